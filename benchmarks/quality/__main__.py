"""`python -m benchmarks.quality [speech] [transcription] [posts] [pictures] [covers]`: print tables. Takes minutes."""

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
from benchmarks.quality.pictures import judge_pictures, picture_samples, pictures_rows, ready_captioners
from benchmarks.quality.posts import judge_all, posts_rows, ready_engines, samples
from benchmarks.quality.prompts import INSTALL, SPEAKERS, Prompt, read_prompts, with_noise
from benchmarks.quality.speaking import Speech, sentences, speak_apart
from benchmarks.quality.words import count_errors
from benchmarks.report import machine

ENGINES = ("espeak", "hibari", "piper", "kokoro")


def main() -> None:
    """Measure what the command line names; by default everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    known = ["speech", "transcription", "posts", "pictures", "covers", []]
    parser.add_argument("what", nargs="*", choices=known, help="default: all")
    parser.add_argument("--count", type=int, default=100, help="sentences of each engine, prompts of each language")
    parser.add_argument("--languages", default=",".join(SPEAKERS), help="those of the recordings")
    parser.add_argument("--engines", default=",".join(ENGINES), help="those that speak")
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
    yield ("engine, voice", "sentences", "words wrong", "times real time, a core", "a sentence, ms", "memory, MiB")
    texts = sentences(count)
    listener = Listener(installed("whisper-tiny.en", folder))
    for engine in engines:
        spoken = folder / engine
        spoken.mkdir()
        took = speak_apart(engine, spoken, count)
        if not isinstance(took, Speech):
            yield (engine, took, "", "", "", "")
            continue
        heard = [(text, listener.hear(_sound(spoken / f"{number:03}.wav"), "en")) for number, text in enumerate(texts)]
        errors = count_errors(heard)
        yield (
            f"{engine}, {took.voice}",
            str(took.sentences),
            f"{errors.share:.1%} ({errors.wrong} of {errors.words})",
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
    for model, languages in {"whisper-tiny.en": ["en"], "whisper-base": list(SPEAKERS)}.items():
        listener = Listener(installed(model, folder))
        for language in [language for language in languages if language in wanted]:
            clean = prompts[language]
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
