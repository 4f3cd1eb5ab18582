"""hibari: natural English speech by small networks; one comes with the package."""

from pathlib import Path
from typing import TYPE_CHECKING

from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.neural.speaking import NeuralVoice
from capabilities.speech.engines.neural.synthesizer import CatalogueVoice, NeuralSynthesizer
from pipeline.errors import NotReady
from workers.models.store import ModelStore

if TYPE_CHECKING:
    from capabilities.speech.engines.hibari.voice import Front

NETWORK = "hibari.onnx"


class Hibari(NeuralSynthesizer):
    """Voices distilled from Kokoro-82M, about 80 times faster than real time on one core."""

    name = "hibari"
    packages = ("hibari", "onnxruntime")

    def __init__(self, store: ModelStore) -> None:
        super().__init__(store)
        self._fronts: dict[bool, Front] = {}

    def setup(self) -> None:
        """Load the first voice and its dictionaries too, which takes about a second. Raises NotReady."""
        super().setup()
        self.warm_up()

    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load a network, and the dictionaries with the first voice of a country. Raises NotReady."""
        # Imported here: the package takes 0.2 s.
        from capabilities.speech.engines.hibari.voice import Front, HibariVoice

        is_british = found.voice.language_codes[0] == "en-GB"
        try:
            if is_british not in self._fronts:
                self._fronts[is_british] = Front(is_british=is_british)
        except (OSError, ValueError, KeyError) as error:
            raise NotReady(f"hibari-tts is damaged: {error!r}; reinstall hibari-tts==0.2.1.") from error
        return HibariVoice(Network(folder / NETWORK), self._fronts[is_british])
