"""hibari's further voices: files of the catalogue, and never a download of the package's own."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from capabilities.speech.engines.hibari.hibari import Hibari
from capabilities.speech.engines.hibari.voice import DIGITS, Front
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.models.catalogue import find_model, models_of
from workers.models.store import ModelStore


def test_the_catalogue_has_american_and_british_voices_of_both_genders() -> None:
    models = models_of("synthesis", "hibari")

    assert [voice for model in models for voice in model.voices] == [
        *("en-US-Heart", "en-GB-Emma", "en-US-Fenrir", "en-GB-Fable", "en-US-Kore")
    ]
    assert all(file.sha256 for model in models for file in model.files)


def test_a_further_voice_speaks_once_it_is_here(store: ModelStore, tmp_path: Path) -> None:
    heart = find_model("hibari-heart")
    folder = store.folder(heart)
    assert folder is not None
    # Emma's weights can't be had here, so Heart's stand in for them.
    emma = replace(find_model("hibari-emma"), files=tuple(replace(file, wheel=()) for file in heart.files))
    models = ModelStore(Settings(data=tmp_path), {"hibari-heart": heart, "hibari-emma": emma})
    engine = Hibari(models)
    engine.setup()
    assert [voice.id for voice in engine.voices()] == ["en-US-Heart"]

    (models.root / "hibari-emma").mkdir(parents=True)
    shutil.copy(folder / "hibari.onnx", models.root / "hibari-emma")

    assert engine.refresh()
    assert [voice.id for voice in engine.voices()] == ["en-US-Heart", "en-GB-Emma"]
    american, british = (engine.speak("Better water.", voice=voice.id).samples for voice in engine.voices())
    assert american != british


def test_altered_weights_are_not_run(tmp_path: Path) -> None:
    heart = find_model("hibari-heart")
    altered = replace(heart, files=tuple(replace(file, sha256="0" * 64) for file in heart.files))

    with pytest.raises(NotReady, match="hibari"):
        Hibari(ModelStore(Settings(data=tmp_path), {"hibari-heart": altered})).setup()


def test_british_english_is_read_by_british_rules() -> None:
    assert Front(is_british=True).read("The water there.").phonemes == "ðə wˈɔːtə ðˈɛː."
    assert Front(is_british=False).read("The water there.").phonemes == "ðə wˈɔTəɹ ðˈɛɹ."


def test_digits_that_the_package_can_not_read_are_those_of_all_planes() -> None:
    signs = (sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isdigit() and not sign.isdecimal())

    assert [ord(sign) for sign in signs] == list(DIGITS)
