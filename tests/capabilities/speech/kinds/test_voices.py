"""Which voice a request gets, and which voices are listed."""

from dataclasses import replace

import pytest

from capabilities.speech.kinds.speech import SpeechRequest
from capabilities.speech.voices.voices import (
    LanguageUnknown,
    Voice,
    VoiceLanguageMismatch,
    VoiceUnknown,
    pick_voice,
    shipped_voices,
)
from pipeline.errors import InvalidRequest


def picked(language: str | None = None, voice_name: str | None = None) -> str:
    return pick_voice(shipped_voices(), voice_name=voice_name, language=language).id


def edge_voice(voice_id: str, language: str) -> Voice:
    return Voice(voice_id, voice_id, (language,), "FEMALE", 24_000, voice_id, "edge")


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        (None, "en-US"), ("en", "en-US"), ("EN", "en-US"), ("en-US", "en-US"), ("en_us", "en-US"), ("en-GB", "en-GB"),
        ("en-AU", "en-US"), ("de", "de"), ("de-AT", "de"), ("es", "es"), ("es-MX", "es-419"), ("fr", "fr"),
        ("fr-CH", "fr-CH"), ("pt", "pt-BR"), ("pt-PT", "pt"), ("zh", "cmn"), ("zh-CN", "cmn"), ("zh-TW", "cmn"),
        ("zh-Hans-CN", "cmn"), ("zh-HK", "yue"), ("cmn", "cmn"), ("ca", "ca"), ("ru", "ru"), ("vi-VN", "vi"),
        ("no", "nb"),
    ],
)  # fmt: skip
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


def test_a_voice_is_found_by_the_name_that_people_say_in_the_language_that_is_asked_for():
    offers = [
        Voice("af_heart", "Heart", ("en-US",), "FEMALE", 24_000, "Heart", "kokoro"),
        Voice("de_heart", "Heart", ("de-DE",), "FEMALE", 24_000, "Heart", "piper"),
    ]
    found = [pick_voice(offers, voice_name="heart", language=language).id for language in (None, "en", "de")]
    assert found == ["af_heart", "af_heart", "de_heart"]
    assert SpeechRequest.model_validate_json('{"text": "Hi.", "voice": "Heart"}').voice_name == "Heart"


@pytest.mark.parametrize("name", ["nobody", "", "en-US'><break/>", "a\r\nb", "x" * 5_000])
def test_an_unknown_voice_is_refused_with_the_way_out(name):
    with pytest.raises(VoiceUnknown, match="GET /tts/voices") as refused:
        picked(voice_name=name)

    assert (refused.value.status, refused.value.code) == (400, "voice_unknown")
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 200


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


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        ("en-GB", "Heart"),  # espeak has it, and is a robot
        ("en-AU", "Heart"),
        ("de-AT", "Thorsten"),
        ("en-GB-scotland", "en-GB-scotland"),  # a dialect is more than an accent
        ("zh-HK", "yue"),  # Cantonese is not an accent of Mandarin
        ("zh-CN", "Xiaobei"),
    ],
)
def test_a_natural_voice_of_another_region_is_preferred_to_a_robot(language, voice):
    spoken = {"Heart": "en-US", "Thorsten": "de-DE", "Xiaobei": "zh-CN"}
    natural = [edge_voice(name, spoken_language) for name, spoken_language in spoken.items()]

    assert pick_voice([*natural, *shipped_voices()], voice_name=None, language=language).id == voice


@pytest.mark.parametrize(("characters", "voice"), [(1_000, "slow"), (1_001, "de")])
def test_a_slow_voice_speaks_a_long_text_only_by_its_name(characters, voice):
    offers = [replace(edge_voice("slow", "de"), is_slow=True), *shipped_voices()]

    assert pick_voice(offers, voice_name=None, language="de", characters=characters).id == voice
    assert pick_voice(offers, voice_name="slow", language="de", characters=characters).id == "slow"


def test_a_long_text_is_refused_where_only_slow_voices_speak_its_language():
    offers = [replace(edge_voice("slow", "de-DE"), is_slow=True), edge_voice("quick", "en-US")]

    with pytest.raises(InvalidRequest, match=r"Only slow voices speak 'de-AT' here.*voice_name.*1,000") as refused:
        pick_voice(offers, voice_name=None, language="de-AT", characters=1_001)

    assert (refused.value.status, refused.value.code) == (400, "language_not_supported")
    assert pick_voice(offers, voice_name=None, language="de-AT", characters=1_000).id == "slow"


@pytest.mark.parametrize(
    ("language", "voice"), [("en", "american"), ("en-US", "american"), ("en-AU", "american"), ("ja", "japanese")]
)
def test_a_voice_is_preferred_that_speaks_the_language_best(language, voice):
    japanese = replace(edge_voice("japanese", "ja-JP"), language_codes=("ja-JP", "en-US"))
    offers = [japanese, edge_voice("american", "en-US")]

    assert pick_voice(offers, voice_name=None, language=language).id == voice


@pytest.mark.parametrize(
    ("language", "code"), [("en", "en-US"), ("en-AU", "en-US"), ("ja", "ja-JP"), ("JA_jp", "ja-JP"), ("fr", "ja-JP")]
)
def test_a_voice_of_several_languages_reads_in_the_one_that_is_asked_for(language, code):
    assert replace(edge_voice("v", "ja-JP"), language_codes=("ja-JP", "en-US")).code_for(language) == code
