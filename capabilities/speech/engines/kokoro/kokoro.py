"""Kokoro: 42 natural voices of one network, Kokoro-82M, each a style; about as slow as people speak."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from capabilities.speech.engines.kokoro.reading import JapaneseReader, KokoroReader, is_japanese_readable, symbols
from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.neural.speaking import NeuralVoice, SentenceReading
from capabilities.speech.engines.neural.synthesizer import CatalogueVoice, NeuralSynthesizer
from capabilities.speech.engines.neural.voiced import Floats, Voiced, speech_in, timed
from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel
from workers.models.store import ModelStore

SAMPLE_RATE = 24_000
#: A style has a row of so many numbers for each number of phonemes, up to 510.
STYLE_SIZE = 256
JAPANESE = "ja-JP"


class Kokoro(NeuralSynthesizer):
    """1.4 to 1.7 times real time on one core, so only a short text gets one without naming it."""

    name = "kokoro"
    is_slow = True

    def __init__(self, store: ModelStore) -> None:
        super().__init__(store)
        self._networks: dict[Path, Network] = {}

    def languages_of(self, model: CatalogueModel, details: Mapping[str, Any]) -> Sequence[str]:
        """Return a voice's languages here: a Japanese one speaks English too, and only that if kanji can't be read."""
        if details["language"] != JAPANESE:
            return (details["language"],)
        return (JAPANESE, "en-US") if is_japanese_readable() else ("en-US",)

    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load a style, and the network with the first voice of a model. Raises NotReady."""
        path = next(folder.glob("*.onnx"), None)
        if path is None:
            raise NotReady(f"{folder} has no *.onnx.")
        style = load_style(folder, found.details["style"])
        if path not in self._networks:
            self._networks[path] = Network(path)
        language: str = found.details["language"]
        reader = JapaneseReader() if language == JAPANESE else KokoroReader(language)
        return KokoroVoice(self._networks[path], style, reader, language=language)


class KokoroVoice(NeuralVoice):
    """One of Kokoro's voices."""

    sample_rate = SAMPLE_RATE
    #: It knows 510, but so many take half a minute in which nobody can stop it.
    most_phonemes = 160
    native_speeds = (1.0, 1.0)
    tells_length = False
    sentence_silence = 0.1

    def __init__(
        self, network: Network, style: Floats, reader: KokoroReader | JapaneseReader, *, language: str
    ) -> None:
        self._network, self._style, self._reader, self.language = network, style, reader, language
        self._ids: Mapping[str, int] = symbols()["ids"]

    def read(self, sentence: str) -> SentenceReading:
        return self._reader.read(sentence)

    def voice(self, phonemes: str, speed: float) -> Voiced:
        ids = [self._ids[phoneme] for phoneme in phonemes]
        style = self._style[min(len(ids), len(self._style)) - 1]
        # Some files call the phonemes tokens, others input_ids.
        (tokens,) = set(self._network.inputs) - {"style", "speed"}
        (samples, *_), frames = self._network.run(
            {
                tokens: np.array([[0, *ids, 0]], np.int64),
                "style": style.reshape(1, STYLE_SIZE),
                "speed": np.array([speed], np.float32),
            }
        )
        sound = samples.ravel()
        kept = speech_in(sound, sample_rate=SAMPLE_RATE, speed=speed)
        return timed(sound, frames, speed=speed, places=range(1, len(ids) + 2), kept=kept)


def load_style(folder: Path, name: str) -> Floats:
    """Return the style of a voice, shape (rows, 256), from a file of its own or from one of several styles.

    Raises NotReady."""
    own = folder / f"{name}.bin"
    try:
        if own.exists():
            style = np.fromfile(own, "<f4")
        else:
            # Numbers alone: a pickle, which could hold a program, is refused.
            with np.load(next(folder.glob("*.npz")), allow_pickle=False) as styles:
                style = np.asarray(styles[name], np.float32)
        rows: Floats = style.reshape(-1, STYLE_SIZE)
        if not len(rows):
            raise ValueError("it is empty")
    except (OSError, StopIteration, KeyError, ValueError, BadZipFile) as error:
        raise NotReady(f"{folder} has no style of the voice {name}: {error!r}.") from error
    return rows
