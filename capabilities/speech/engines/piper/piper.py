"""Piper: natural voices in 26 languages, each a VITS network of its own.

As in the original (github.com/rhasspy/piper, MIT): phonemes by espeak in Unicode's decomposed form, each an id of the
voice's own table, with a pad between any two, and a mark before the first and after the last.
"""

import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from capabilities.speech.engines.espeak.phonemes import has_voice
from capabilities.speech.engines.neural.espeak_reader import EspeakReader
from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.neural.speaking import NeuralVoice, SentenceReading
from capabilities.speech.engines.neural.synthesizer import CatalogueVoice, NeuralSynthesizer
from capabilities.speech.engines.neural.voiced import LOUDNESS, Voiced, timed
from pipeline.errors import NotReady

BEGIN, END, PAD = "^", "$", "_"
#: Signs that voices were not trained with, and what they are spoken like.
LIKE = {"—": ",", "…": "."}
#: Phonemes that espeak has and a language's voices don't (piper-phonemize).
REPLACED = {"pt-br": {"c": "k"}}


class Piper(NeuralSynthesizer):
    """Five to ten times faster than real time on one core."""

    name = "piper"
    loudness = LOUDNESS - 1.0

    def sample_rate_of(self, folder: Path) -> int:
        rate: int = load_configuration(_network_in(folder).with_suffix(".onnx.json"))["audio"]["sample_rate"]
        return rate

    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load the network. Raises NotReady."""
        network = _network_in(folder)
        configuration = load_configuration(network.with_suffix(".onnx.json"))
        language = found.voice.language_codes[0]
        return PiperVoice(network, configuration, language=language, speaker=found.details.get("speaker", 0))


class PiperReader(EspeakReader):
    """Reads by libespeak-ng; `ids` are those of the signs that the voice knows."""

    def __init__(self, voice: str, ids: Mapping[str, list[int]]) -> None:
        super().__init__(voice)
        self._ids, self._replaced = ids, REPLACED.get(voice, {})

    def written(self, phonemes: str) -> str:
        return "".join(self._replaced.get(letter, letter) for letter in unicodedata.normalize("NFD", phonemes))

    def sign(self, terminator: str) -> str:
        sign = LIKE.get(terminator, terminator)
        return sign if sign in self._ids else ""


class PiperVoice(NeuralVoice):
    """One voice of Piper. Its network adds noise that can't be seeded, so no two renderings are equal."""

    most_phonemes = 400
    tells_length = True
    sentence_silence = 0.2  # as in the original

    def __init__(self, network: Path, configuration: Mapping[str, Any], *, language: str, speaker: int = 0) -> None:
        self.language, self._speaker = language, speaker
        self._ids: Mapping[str, list[int]] = configuration["phoneme_id_map"]
        voice: str = configuration.get("espeak", {}).get("voice", "")
        self._are_letters = configuration.get("phoneme_type") == "text"
        if not self._are_letters and not has_voice(voice):
            raise NotReady(f"libespeak-ng has no voice {voice!r}, which {network.name} needs.")
        self._reader = PiperReader(voice, self._ids)
        self.sample_rate = configuration["audio"]["sample_rate"]
        inference = configuration.get("inference", {})
        self._noise = inference.get("noise_scale", 0.667), inference.get("noise_w", 0.8)
        self._length = inference.get("length_scale", 1.0)
        self._network = Network(network)

    def read(self, sentence: str) -> SentenceReading:
        if self._are_letters:
            letters = unicodedata.normalize("NFD", sentence.strip().casefold())
            return SentenceReading(letters if any(letter.isalnum() for letter in letters) else "")
        return self._reader.read(sentence)

    def voice(self, phonemes: str, speed: float) -> Voiced:
        pad = self._ids[PAD]
        ids, places = [*self._ids[BEGIN], *pad], []
        for phoneme in phonemes:
            places.append(len(ids))
            if phoneme in self._ids:
                ids += [*self._ids[phoneme], *pad]
        places.append(len(ids))
        ids += self._ids[END]
        noise, noise_of_lengths = self._noise
        inputs = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array([noise, self._length / speed, noise_of_lengths], np.float32),
            "sid": np.array([self._speaker], np.int64),
        }
        (samples, *_), frames = self._network.run({name: inputs[name] for name in self._network.inputs})
        return timed(samples.ravel(), frames, speed=speed, places=places)


def load_configuration(path: Path) -> Mapping[str, Any]:
    """Return the configuration of a voice. Raises NotReady."""
    try:
        configuration = json.loads(path.read_text("utf-8"))
        _ = configuration["audio"]["sample_rate"], configuration["phoneme_id_map"][PAD]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotReady(f"{path} does not describe a Piper voice: {error!r}.") from error
    return dict(configuration)


def _network_in(folder: Path) -> Path:
    found = sorted(folder.glob("*.onnx"))
    if not found:
        raise NotReady(f"{folder} has no *.onnx.")
    return found[0]
