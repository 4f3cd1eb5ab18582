"""Voice aliases: which voice here speaks for a name that OpenAI's voices have."""

from dataclasses import asdict, replace

import pytest

from capabilities.speech.voices.offered_voices import OfferedVoices, voice_aliases
from capabilities.speech.voices.voices import Voice
from pipeline.errors import InvalidRequest
from pipeline.offers.offers import Offer, Offers

NAMES = [
    *("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse")
]

HEART = Voice("en-US-Heart", "Heart", ("en-US",), "FEMALE", 24_000, "Heart", "hibari")
FENRIR = replace(HEART, id="en-US-Fenrir", ssml_gender="MALE")
FABLE = replace(FENRIR, id="en-GB-Fable", language_codes=("en-GB",))
THORSTEN = replace(FENRIR, id="de-DE-Thorsten", language_codes=("de-DE",), engine="piper")
KERSTIN = replace(THORSTEN, id="de-DE-Kerstin", ssml_gender="FEMALE")
ROBOT = replace(FENRIR, id="fr-FR-Robot", language_codes=("fr-FR",), engine="espeak", quality="robotic")
ONLINE = replace(HEART, id="fr-FR-DeniseNeural", language_codes=("fr-FR",), engine="edge", local=False)
SLOW = replace(HEART, id="ja-JP-Slow", language_codes=("ja-JP",), engine="kokoro", is_slow=True)


def offered(*voices: Voice) -> OfferedVoices:
    engines: dict[str, list[object]] = {}
    for voice in voices:
        engines.setdefault(voice.engine, []).append(asdict(voice))
    offers = [Offer("synthesis", name, ready=True, content={"voices": listed}) for name, listed in engines.items()]
    return OfferedVoices(Offers(tuple(offers)))


def spoken_by(voices: OfferedVoices, name: str, language: str | None = None, characters: int = 10) -> str:
    return voices.pick(voice_name=name, language=language, characters=characters).id


def test_all_names_of_openai_are_known() -> None:
    assert sorted(voice_aliases()) == NAMES


def test_a_man_and_a_british_one_speak_where_they_are_here() -> None:
    voices = offered(HEART, FENRIR, FABLE)

    spoken = [spoken_by(voices, name) for name in ("nova", "onyx", "fable", "NOVA")]
    assert spoken == ["en-US-Heart", "en-US-Fenrir", "en-GB-Fable", "en-US-Heart"]


def test_the_language_decides_before_the_name() -> None:
    voices = offered(HEART, FENRIR, THORSTEN, KERSTIN)

    assert spoken_by(voices, "onyx", "de") == "de-DE-Thorsten"
    assert spoken_by(voices, "nova", "de-AT") == "de-DE-Kerstin"


def test_names_of_one_gender_take_turns_with_its_voices() -> None:
    other = replace(THORSTEN, id="de-DE-Karl")

    assert {spoken_by(offered(THORSTEN, other), name, "de") for name in ("ash", "ballad")} == {THORSTEN.id, other.id}


def test_no_name_sends_a_text_away_where_a_voice_here_speaks() -> None:
    assert spoken_by(offered(ONLINE, ROBOT), "nova", "fr") == ROBOT.id


def test_a_long_text_gets_no_slow_voice() -> None:
    voices = offered(HEART, SLOW)

    assert spoken_by(voices, "nova", "ja") == SLOW.id
    with pytest.raises(InvalidRequest) as refused:
        spoken_by(voices, "nova", "ja", characters=2_000)
    assert refused.value.code == "language_not_supported"
