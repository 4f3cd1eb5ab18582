"""Kokoro: 46 natural voices of one network, Kokoro-82M; about as slow as people speak."""

from collections.abc import Sequence
from pathlib import Path

from capabilities.speech.engines.kokoro.japanese import JapaneseReader, is_readable
from capabilities.speech.engines.kokoro.reading import EspeakReader
from capabilities.speech.engines.kokoro.voice import SAMPLE_RATE, KokoroVoice, PhonemeReader, load_style
from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.neural.speaking import NeuralVoice
from capabilities.speech.engines.neural.synthesizer import CatalogueVoice, NeuralSynthesizer, catalogue_voice
from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel
from workers.models.store import ModelStore

JAPANESE = "ja-JP"


class Kokoro(NeuralSynthesizer):
    """1.4 to 1.7 times real time on one core, so a text that names no voice gets one only when it is short."""

    name = "kokoro"

    def __init__(self, store: ModelStore) -> None:
        super().__init__(store)
        self._networks: dict[Path, Network] = {}

    def list_voices(self, model: CatalogueModel, folder: Path) -> Sequence[CatalogueVoice]:
        """Return the voices of a model, of those languages that can be read here."""
        return [
            catalogue_voice(
                model, details, sample_rate=SAMPLE_RATE, languages=_languages(details["language"]), is_slow=True
            )
            for details in model.details["voices"]
        ]

    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load a style, and the network with the first voice of a model. Raises NotReady."""
        path = next(folder.glob("*.onnx"), None)
        if path is None:
            raise NotReady(f"{folder} has no *.onnx.")
        style = load_style(folder, found.details["style"])
        if path not in self._networks:
            self._networks[path] = Network(path)
        language: str = found.details["language"]
        reader: PhonemeReader = JapaneseReader() if language == JAPANESE else EspeakReader(language)
        return KokoroVoice(self._networks[path], style, reader, language=language)


def _languages(language: str) -> tuple[str, ...]:
    """Return what a voice speaks here: a Japanese one English too, and without a reader of kanji English alone."""
    if language != JAPANESE:
        return (language,)
    return (JAPANESE, "en-US") if is_readable() else ("en-US",)
