"""`python -m benchmarks.quality [speech] [transcription] [speakers] [posts] [pictures] [covers]`: print tables.

It takes minutes."""

import argparse
import logging
import tempfile
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import structlog

from benchmarks.quality.covers import choose_all, covers_rows
from benchmarks.quality.listening import Listener, installed, resample
from benchmarks.quality.naturalness import opinion
from benchmarks.quality.pictures import judge_pictures, picture_samples, pictures_rows, ready_captioners
from benchmarks.quality.posts import judge_all, posts_rows, ready_engines, samples
from benchmarks.quality.prompts import INSTALL, SPEAKERS, Prompt, read_prompts, with_noise
from benchmarks.quality.speakers import speakers_rows
from benchmarks.quality.speaking import Speech, sentences, speak_apart
from benchmarks.quality.words import count_errors
from benchmarks.report import machine

#: Engines, each with the language that it speaks.
ENGINES = (
    *("espeak:en", "hibari:en", "piper:en", "kokoro:en"),
    *(f"{engine}:{language}" for language in ("es", "fr", "it", "pt", "hi", "ja") for engine in ("espeak", "kokoro")),
)
#: Languages written without spaces: their signs are counted as words.
SPACELESS = ("ja",)


def main() -> None:
    """Measure what the command line names; by default everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    known = ["speech", "transcription", "speakers", "posts", "pictures", "covers", []]
    parser.add_argument("what", nargs="*", choices=known, help="default: all")
    parser.add_argument("--count", type=int, default=100, help="sentences of each engine, prompts of each language")
    parser.add_argument("--languages", default=",".join(SPEAKERS), help="those of the recordings")
    parser.add_argument("--engines", default=",".join(ENGINES), help="those that speak, as espeak:en")
    parser.add_argument("--samples", action="store_true", help="print what was made of each post and picture")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    print(machine())
    with tempfile.TemporaryDirectory(prefix="pressroom-quality-") as name:
        folder = Path(name)
        if "speech" in (wanted.what or ["speech"]):
            _print(speech_rows(wanted.engines.split(","), wanted.count, folder))
        if "transcription" in (wanted.what or ["transcription"]):
            _print(transcription_rows(wanted.languages.split(","), wanted.count, folder))
        if "speakers" in (wanted.what or ["speakers"]):
            _print(speakers_rows(folder))
    if "posts" in (wanted.what or ["posts"]):
        judged = [(engine.name, list(judge_all(engine))) for engine in ready_engines()]
        _print(posts_rows(judged))
        for name, posts in judged if wanted.samples else ():
            print(f"\n## {name}\n\n" + "\n\n".join(samples(posts)))
    if "pictures" in (wanted.what or ["pictures"]):
        seen = [(captioner.name, list(judge_pictures(captioner))) for captioner in ready_captioners()]
        _print(pictures_rows(seen))
        for name, pictures in seen if wanted.samples else ():
            print(f"\n## {name}")
            _print(picture_samples(pictures))

    if "covers" in (wanted.what or ["covers"]):
        chosen = list(choose_all(ready_engines()[-1]))
        _print(covers_rows(chosen))
        print("\n".join(f"- wrong: {one.title} ({one.motif})" for one in chosen if one.is_wrong))


def speech_rows(engines: list[str], count: int, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and rows: what Whisper understood of each engine's sentences, and what they took."""
    head = ("engine, voice", "sentences", "words wrong", "naturalness")
    yield (*head, "times real time, a core", "a sentence, ms", "memory, MiB")
    listener = Listener(installed("whisper-base", folder))
    for engine, language in (named.split(":") for named in engines):
        spoken = folder / f"{engine}-{language}"
        spoken.mkdir()
        took = speak_apart(engine, language, spoken, count)
        if not isinstance(took, Speech):
            yield (f"{engine}, {language}", took, *[""] * 5)
            continue
        texts = sentences(count, language)
        sounds = [_sound(spoken / f"{number:03}.wav") for number in range(len(texts))]
        heard = [(text, listener.hear(sound, language)) for text, sound in zip(texts, sounds, strict=True)]
        if language in SPACELESS:
            heard = [(" ".join(said), " ".join(written)) for said, written in heard]
        errors = count_errors(heard, language=language)
        yield (
            f"{engine}, {took.voice}",
            str(took.sentences),
            f"{errors.share:.1%} ({errors.wrong} of {errors.words})",
            f"{np.mean([opinion(sound) for sound in sounds]):.2f}",
            f"{took.times_real_time:.1f}",
            f"{took.first_sound_ms:.0f}",
            f"{took.memory_mib:.0f}",
        )


def transcription_rows(wanted: list[str], count: int, folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and rows: how many words of people's prompts each model writes down wrongly."""
    yield ("model", "recordings", "clean", "with noise at 10 dB")
    prompts = {language: read_prompts(language, count) for language in wanted}
    if not any(prompts.values()):
        yield ("none", f"Recordings are missing: {INSTALL}", "", "")
        return
    model = "whisper-base"
    listener = Listener(installed(model, folder))
    for language, clean in prompts.items():
        noisy = [with_noise(prompt, number) for number, prompt in enumerate(clean)]
        rates = [_rate(listener, recordings, language) for recordings in (clean, noisy)]
        yield (model, f"{language}, {len(clean)}, telephone quality (8 kHz)", *rates)


def _rate(listener: Listener, prompts: list[Prompt], language: str) -> str:
    if not prompts:
        return f"missing: {INSTALL}"
    errors = count_errors(
        [(prompt.text, listener.hear(prompt.sound, language)) for prompt in prompts], language=language
    )
    return f"{errors.share:.1%} of {errors.words} words"


def _sound(file: Path) -> np.ndarray:
    with wave.open(str(file)) as recording:
        samples = np.frombuffer(recording.readframes(recording.getnframes()), "<i2")
        return resample(samples / 32_768, recording.getframerate())


def _print(rows: Iterator[tuple[str, ...]]) -> None:
    head = next(rows)
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
