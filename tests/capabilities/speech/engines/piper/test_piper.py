"""The Piper engine: its configuration, its phonemes, and voices that arrive, leave or are damaged."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.piper.piper import Piper, PiperVoice, load_configuration
from capabilities.speech.voices.voices import VoiceUnknown
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines import EngineUnavailable
from workers.models.catalogue import CatalogueModel, File, find_model
from workers.models.store import ModelStore

JOE = "en_US-joe-medium.onnx"


@pytest.fixture
def joe(store: ModelStore) -> Path:
    """The folder of the voice Joe."""
    folder = store.folder(find_model("piper-en_US-joe-medium"))
    assert folder is not None
    return folder


@pytest.fixture
def fetched(joe: Path, tmp_path: Path) -> ModelStore:
    """Models of a catalogue whose one voice comes by download, and is not here yet."""
    known = find_model("piper-en_US-joe-medium")
    files = tuple(File(file.name, file.sha256, file.size_bytes) for file in known.files)
    model = CatalogueModel(
        "joe", "synthesis", "piper", "a voice", "CC0-1.0", "", 1, ("en-US",), files, details=known.details
    )
    return ModelStore(Settings(data=tmp_path), {"joe": model})


def arrive(joe: Path, store: ModelStore) -> Path:
    """Put the voice where downloads go; return its folder."""
    return Path(shutil.copytree(joe, store.root / "joe", ignore=lambda _, names: {n for n in names if JOE not in n}))


def test_a_voice_is_described_as_people_read_it(piper: Piper) -> None:
    (voice,) = piper.voices()

    assert (voice.id, voice.display_name) == ("en-US-Joe", "Joe, English (United States), male, natural")
    assert voice.natural_sample_rate_hertz == 22_050
    assert voice.local
    assert not voice.is_slow


def test_a_voice_that_arrives_speaks_without_a_restart(joe: Path, fetched: ModelStore) -> None:
    engine = Piper(fetched)
    assert engine.readiness() == "no voice is on this machine; pressroom models fetch joe"

    arrive(joe, fetched)

    engine.setup()
    assert engine.speak("Yes.", voice="en-US-Joe").samples
    assert engine.refresh() is False
    shutil.rmtree(fetched.root / "joe")
    assert engine.refresh() is True
    assert engine.voices() == []


def test_a_voice_that_turns_out_damaged_is_offered_no_more(joe: Path, fetched: ModelStore) -> None:
    folder = arrive(joe, fetched)
    engine = Piper(fetched)
    engine.setup()
    offered: list[int] = []
    engine.watch(lambda: offered.append(len(engine.voices())))
    (folder / JOE).write_bytes(b"something else")

    with pytest.raises(EngineUnavailable, match=r"Joe can't be loaded; the service's log says why\.$"):
        engine.speak("Yes.", voice="en-US-Joe")
    with pytest.raises(VoiceUnknown):
        engine.speak("Yes.", voice="en-US-Joe")

    assert offered == [0]
    shutil.copy(joe / JOE, folder / JOE)
    assert engine.refresh() is True
    assert engine.speak("Yes.", voice="en-US-Joe").samples


def test_a_file_that_is_no_network_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"no network")

    with pytest.raises(NotReady, match=r"x\.onnx does not load as a network"):
        Network(tmp_path / "x.onnx")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"audio": {"sample_rate": 22050}}'])
def test_a_faulty_configuration_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.onnx.json").write_text(content)

    with pytest.raises(NotReady, match="does not describe a Piper voice"):
        load_configuration(tmp_path / "x.onnx.json")


def test_a_sentence_keeps_its_signs_and_an_abbreviation_loses_its_stop(joe: Path) -> None:
    voice = PiperVoice(joe / JOE, configured(joe), language="en-US")

    assert voice.read("Dr. Smith, why — no!").phonemes == "dˈɑːktɚ smˈɪθ, wˈaɪ, nˈoʊ!"


def test_a_language_that_espeak_lacks_is_refused(joe: Path) -> None:
    with pytest.raises(NotReady, match="no voice 'xx'"):
        PiperVoice(joe / JOE, configured(joe, espeak={"voice": "xx"}), language="xx")


def configured(joe: Path, **changes: Any) -> dict[str, Any]:
    """Return Joe's configuration with some changes."""
    return {**json.loads((joe / f"{JOE}.json").read_text("utf-8")), **changes}
