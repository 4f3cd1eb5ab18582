"""The hibari engine: what it speaks, and its further voices, which are files of the catalogue."""

import shutil
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.hibari.hibari import Hibari
from capabilities.speech.engines.hibari.voice import Front
from pipeline.settings import Settings
from workers.engines import prepared
from workers.engines.tables import Table
from workers.models.catalogue import find_model, models_of
from workers.models.store import ModelStore

TEXT = "The quick brown fox jumps over the lazy dog, and nobody knows why it does. It never says a word."
VOICE = "en-US-Heart"


def test_the_same_text_is_the_same_sound(hibari: Hibari) -> None:
    assert hibari.speak(TEXT, voice=VOICE).samples == hibari.speak(TEXT, voice=VOICE).samples


def test_markup_for_pronunciation_is_read_and_not_obeyed(hibari: Hibari) -> None:
    obeyed = hibari.speak("Say word now.", voice=VOICE).duration
    assert hibari.speak("Say [word](/ˈɑ/) now.", voice=VOICE).duration > obeyed * 0.95


@pytest.mark.parametrize("text", ["漢字", "\u200b", "🎉"])
def test_what_it_can_not_read_is_refused(hibari: Hibari, text: str) -> None:
    with pytest.raises(NothingToSpeak):
        hibari.speak(text, voice=VOICE)


@pytest.mark.parametrize(
    "text", ["9" * 37, "$" + "9" * 40, "3." + "1" * 50, "①$5", "¹$5", "(②$5-10k)", "25 m²$5", "⑴£2", "x²$"]
)
def test_numbers_that_the_package_fails_at_are_read(hibari: Hibari, text: str) -> None:
    said = hibari.utter(f"Before {text} behind.", voice=VOICE)

    assert said.words is not None
    assert said.sound.duration > hibari.speak("Before behind.", voice=VOICE).duration
    assert all(word.begins <= later.begins for word, later in pairwise(said.words))


def test_a_word_that_the_package_fails_at_is_skipped(hibari: Hibari) -> None:
    number = ",".join(["999"] * 13)

    assert hibari.speak(f"Take {number} it.", voice=VOICE).samples == hibari.speak("Take it.", voice=VOICE).samples
    with pytest.raises(NothingToSpeak):
        hibari.speak(number, voice=VOICE)


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


@pytest.mark.parametrize("is_british", [False, True])
def test_prepared_dictionaries_read_as_the_package_does(
    is_british: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "_root", tmp_path)
    monkeypatch.setattr(prepared, "PREPARE_AFTER", timedelta(hours=1))
    front = Front(is_british=is_british)
    sentences = [
        "She used to read what they had read, in Lisbon; the content was content.",
        "Dr. O'Neill's NASA lecture cost $12.50 and began at 7:30 p.m., didn't it?",
        "Unbelievably, the Zyrthqu sang along the AM/FM water's edge.",
    ]
    loaded = [front.read(sentence) for sentence in sentences]
    front._reader.prepare()
    assert isinstance(front._reader.get().tagger.weights, Table)
    assert [front.read(sentence) for sentence in sentences] == loaded


def test_british_english_is_read_by_british_rules() -> None:
    assert Front(is_british=True).read("The water there.").phonemes == "ðə wˈɔːtə ðˈɛː."
    assert Front(is_british=False).read("The water there.").phonemes == "ðə wˈɔTəɹ ðˈɛɹ."


@pytest.mark.parametrize(
    "word", ["internationalizationandlocalizationservices", "Donaudampfschifffahrtsgesellschaft", "a" * 999]
)
def test_a_long_word_is_read_to_its_end(word: str) -> None:
    sentence = f"Say {word} now."

    reading = Front(is_british=False).read(sentence)

    assert "".join(sentence[one.start : one.end] for one in reading.words) == f"Say{word}now"
    assert all(2 < one.end - one.start <= 24 for one in reading.words)
    assert len(reading.phonemes) > len(word) * 0.8


@pytest.mark.parametrize("text", ['the "API" of', "the “API” of", 'say "API keys" now', "(API) now"])
def test_capitals_in_quotation_marks_are_spelt(text: str) -> None:
    assert "ˌApˌiˈI" in Front(is_british=False).read(text).phonemes
