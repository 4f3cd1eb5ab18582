"""Prompts: recordings of people whose words are known, which Debian ships for telephone exchanges (8 kHz)."""

import gzip
import re
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.quality.listening import Floats, resample

SOUNDS = Path("/usr/share/asterisk/sounds")
TEXTS = Path("/usr/share/doc")
#: The speaker of each language: a folder of sounds.
SPEAKERS: Mapping[str, str] = {
    "en": "en_US_f_Allison",
    "es": "es_MX_f_Allison",
    "fr": "fr_CA_f_June",
    "it": "it_IT_m_Carlo",
    "ru": "ru_RU_f_IvrvoiceRU",
}
INSTALL = "apt-get install -y " + " ".join(
    f"asterisk-core-sounds-{language} asterisk-core-sounds-{language}-wav" for language in SPEAKERS
)
#: A text is taken that is speech alone, not a description, has some words and no character that was lost.
DESCRIBED = re.compile(r"[\[\]<>()«»/]|\.\.\.|\w\?\w|\w\? [a-z]")
LEAST_WORDS = 5
#: How much louder the voice is than the noise, where noise is added.
NOISE_DB = 10.0


@dataclass(frozen=True, slots=True)
class Prompt:
    """A recording, and what is said in it."""

    text: str
    sound: Floats


def read_prompts(language: str, count: int) -> list[Prompt]:
    """Return so many prompts of a language, taken evenly from all; none where the packages are missing."""
    if language not in SPEAKERS:
        return []
    texts = TEXTS / f"asterisk-core-sounds-{language}" / f"core-sounds-{language}.txt.gz"
    folder = SOUNDS / SPEAKERS[language]
    if not texts.exists() or not folder.is_dir():
        return []
    lines = gzip.decompress(texts.read_bytes()).decode("utf-8", "replace").splitlines()
    named = (line.partition(":") for line in lines if not line.startswith(";"))
    wanted = [
        (folder / f"{name.strip()}.wav", text.strip())
        for name, _, text in named
        if len(text.split()) >= LEAST_WORDS and not DESCRIBED.search(text) and "\ufffd" not in text
    ]
    found = [(file, text) for file, text in wanted if file.exists()]
    count = min(count, len(found))
    return [_read(*found[number * len(found) // count]) for number in range(count)]


def with_noise(prompt: Prompt, seed: int) -> Prompt:
    """Return a prompt with pink noise under it, as of a street: 10 dB under the voice."""
    size = prompt.sound.size
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(size))
    spectrum /= np.sqrt(np.maximum(np.arange(spectrum.size), 1))
    noise = np.fft.irfft(spectrum, size)
    loud = prompt.sound[np.abs(prompt.sound) > 0.02]
    wanted = np.sqrt(np.mean(np.square(loud))) / 10 ** (NOISE_DB / 20)
    return Prompt(prompt.text, prompt.sound + noise * (wanted / np.sqrt(np.mean(np.square(noise)))))


def _read(file: Path, text: str) -> Prompt:
    with wave.open(str(file)) as recording:
        rate = recording.getframerate()
        samples = np.frombuffer(recording.readframes(recording.getnframes()), "<i2")
    return Prompt(text, resample(samples / 32_768, rate))
