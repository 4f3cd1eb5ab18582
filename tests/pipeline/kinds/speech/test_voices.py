"""Which voice a request gets, and which voices are listed."""

import json
from dataclasses import asdict

import pytest

from pipeline.kinds.speech.voices import (
    LanguageUnknown,
    Voice,
    VoiceLanguageMismatch,
    VoiceUnknown,
    filter_voices,
    pick_voice,
    shipped_voices,
)


def picked(language: str | None = None, voice_name: str | None = None) -> str:
    return pick_voice(shipped_voices(), voice_name=voice_name, language=language).id


def edge_voice(voice_id: str, language: str) -> Voice:
    return Voice(voice_id, voice_id, (language,), "FEMALE", 24_000, voice_id, "edge")


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        (None, "en-US"),
        ("en", "en-US"),
        ("EN", "en-US"),
        ("en-US", "en-US"),
        ("en_us", "en-US"),
        ("en-GB", "en-GB"),
        ("en-AU", "en-US"),
        ("de", "de"),
        ("de-AT", "de"),
        ("es", "es"),
        ("es-MX", "es-419"),
        ("fr", "fr"),
        ("fr-CH", "fr-CH"),
        ("pt", "pt-BR"),
        ("pt-PT", "pt"),
        ("zh", "cmn"),
        ("zh-CN", "cmn"),
        ("zh-TW", "cmn"),
        ("zh-Hans-CN", "cmn"),
        ("zh-HK", "yue"),
        ("cmn", "cmn"),
        ("ca", "ca"),
        ("ru", "ru"),
        ("vi-VN", "vi"),
        ("no", "nb"),
    ],
)
def test_a_language_gets_the_voice_that_its_speakers_expect(language, voice):
    assert picked(language) == voice


@pytest.mark.parametrize("language", ["xx", "xx-US", "english", "", "e", "en US", "<en>", "-en", "en--US", "e" * 5_000])
def test_an_unknown_language_is_refused_with_the_way_out(language):
    with pytest.raises(LanguageUnknown, match="GET /tts/voices") as refused:
        picked(language)

    assert (refused.value.status, refused.value.code) == (400, "language_unknown")
    assert len(refused.value.message) < 200


@pytest.mark.parametrize(("name", "voice"), [("en-GB", "en-GB"), ("EN_gb", "en-GB"), ("fr-female", "fr-female")])
def test_a_voice_is_found_by_its_name_whatever_the_case(name, voice):
    assert picked(voice_name=name) == voice


@pytest.mark.parametrize("name", ["nobody", "", "en-US'><break/>", "a\r\nb", "x" * 5_000])
def test_an_unknown_voice_is_refused_with_the_way_out(name):
    with pytest.raises(VoiceUnknown, match="GET /tts/voices") as refused:
        picked(voice_name=name)

    assert (refused.value.status, refused.value.code) == (400, "voice_unknown")
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("language", ["en", "en-GB", "EN-gb"])
def test_a_voice_with_its_own_language_is_taken(language):
    assert picked(language, voice_name="en-GB") == "en-GB"


@pytest.mark.parametrize("language", ["fr", "en-US", "xx", ""])
def test_a_voice_with_another_language_is_refused(language):
    with pytest.raises(VoiceLanguageMismatch, match="speaks en-GB") as refused:
        picked(language, voice_name="en-GB")

    assert (refused.value.status, refused.value.code) == (400, "voice_language_mismatch")


def test_the_first_engine_that_speaks_the_language_is_preferred():
    offers = [edge_voice("de-AT-Ingrid", "de-AT"), edge_voice("de-DE-Katja", "de-DE"), *shipped_voices()]

    assert pick_voice(offers, voice_name=None, language="de").id == "de-DE-Katja"
    assert pick_voice(offers, voice_name=None, language="de-AT").id == "de-AT-Ingrid"
    assert pick_voice(offers, voice_name=None, language="fr").engine == "espeak"


def test_without_any_voice_no_language_is_known():
    with pytest.raises(LanguageUnknown):
        pick_voice([], voice_name=None, language="en")


def test_voices_are_filtered_by_the_beginning_of_their_language_and_by_gender():
    english = filter_voices(shipped_voices(), language="en", gender="female")

    assert {"en-GB-female", "en-US-female"} <= {voice.id for voice in english}
    assert all(voice.ssml_gender == "FEMALE" and voice.language_codes[0].startswith("en") for voice in english)
    assert {voice.id for voice in filter_voices(shipped_voices(), language="en_GB", gender="MALE")} >= {"en-GB"}


@pytest.mark.parametrize("language", ["xx", "e", "", "english"])
def test_an_unknown_language_lists_nothing(language):
    assert filter_voices(shipped_voices(), language=language) == []


def test_all_voices_are_listed_without_a_filter():
    assert len(filter_voices(shipped_voices())) == len(shipped_voices()) > 250


def test_ids_are_unique_whatever_their_case():
    ids = [voice.id.lower() for voice in shipped_voices()]

    assert len(ids) == len(set(ids))


def test_a_voice_survives_json():
    voice = shipped_voices()[0]

    assert Voice.from_document(json.loads(json.dumps(asdict(voice)))) == voice
