"""Piper: natural voices in 26 languages, each a network of its own."""

from collections.abc import Sequence
from pathlib import Path

from capabilities.speech.engines.neural.speaking import NeuralVoice
from capabilities.speech.engines.neural.synthesizer import CatalogueVoice, NeuralSynthesizer, catalogue_voice
from capabilities.speech.engines.piper.voice import PiperVoice, load_configuration
from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel


class Piper(NeuralSynthesizer):
    """Five to ten times faster than real time on one core."""

    name = "piper"

    def list_voices(self, model: CatalogueModel, folder: Path) -> Sequence[CatalogueVoice]:
        """Return the voices of a network: one, or those of its speakers that the catalogue names."""
        configuration = load_configuration(_network_in(folder).with_suffix(".onnx.json"))
        sample_rate = configuration["audio"]["sample_rate"]
        return [
            catalogue_voice(model, details, sample_rate=sample_rate, languages=model.languages)
            for details in model.details["voices"]
        ]

    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load the network. Raises NotReady."""
        network = _network_in(folder)
        configuration = load_configuration(network.with_suffix(".onnx.json"))
        language = found.voice.language_codes[0]
        return PiperVoice(network, configuration, language=language, speaker=found.details.get("speaker", 0))


def _network_in(folder: Path) -> Path:
    found = sorted(folder.glob("*.onnx"))
    if not found:
        raise NotReady(f"{folder} has no *.onnx.")
    return found[0]
