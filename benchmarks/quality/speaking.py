"""Speaking: what an engine makes of the sentences, in a process of its own, so that its memory is its own.

`python -m benchmarks.quality.speaking ENGINE LANGUAGE FOLDER COUNT` writes a WAV a sentence, and figures as JSON."""

import json
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.quality.prompts import read_prompts
from benchmarks.streams import load_engine
from capabilities.speech.engines import Synthesizer
from capabilities.speech.normalization.reading import spoken_form
from capabilities.speech.voices.voices import pick_voice
from workers.media.audio.pcm import encode_wav

SENTENCES = Path(__file__).with_name("sentences.toml")
#: Regions of voices, where the language alone would not do.
LOCALES = {"en": "en-US"}


@dataclass(frozen=True, slots=True)
class Speech:
    """An engine's time for its sentences."""

    voice: str
    sentences: int
    #: Seconds of sound for each second of the processor.
    times_real_time: float
    #: Milliseconds until a sentence is there: the first byte of a stream.
    first_sound_ms: float
    #: The most memory of the process.
    memory_mib: float


def sentences(count: int, language: str) -> list[str]:
    """Return so many of the sentences, of all sorts alike: our own, or else those of the prompts."""
    written: Mapping[str, list[str]] = tomllib.loads(SENTENCES.read_text("utf-8"))
    listed = written.get(language) or [prompt.text for prompt in read_prompts(language, count)]
    count = min(count, len(listed))
    return [listed[number * len(listed) // count] for number in range(count)]


def speak_all(engine: Synthesizer, language: str, texts: list[str], folder: Path) -> Speech:
    """Speak each text into a file of its own."""
    voice = pick_voice(engine.voices(), voice_name=None, language=LOCALES.get(language, language))
    engine.speak(texts[0], voice=voice.id)
    seconds, took = 0.0, []
    processor = time.process_time()
    for number, text in enumerate(texts):
        began = time.perf_counter()
        sound = engine.speak(spoken_form(text, voice.language_codes[0]), voice=voice.id)
        took.append((time.perf_counter() - began) * 1_000)
        seconds += sound.duration.total_seconds()
        (folder / f"{number:03}.wav").write_bytes(encode_wav(sound))
    return Speech(
        voice=voice.id,
        sentences=len(texts),
        times_real_time=seconds / (time.process_time() - processor),
        first_sound_ms=statistics.median(took),
        memory_mib=_most_memory(),
    )


def speak_apart(engine: str, language: str, folder: Path, count: int) -> Speech | str:
    """Let an engine speak in a process of its own; return what it took, or why it can't."""
    command = [sys.executable, "-m", "benchmarks.quality.speaking", engine, language, str(folder), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    return Speech(**json.loads(done.stdout.splitlines()[-1]))


def _most_memory() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    name, spoken_in, folder_name, wanted = sys.argv[1:]
    made = speak_all(load_engine(name), spoken_in, sentences(int(wanted), spoken_in), Path(folder_name))
    print(json.dumps(asdict(made)))
