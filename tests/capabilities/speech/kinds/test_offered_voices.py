"""Which voice a request gets of those that engines offer, and what it is told of those that are not here."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from capabilities.speech.voices.offered_voices import OfferedVoices, VoiceNotInstalled, VoiceUnavailable
from capabilities.speech.voices.voices import LanguageUnknown, Voice, VoiceUnknown
from pipeline.errors import InvalidRequest
from pipeline.offers.offers import Offer, Offers

ENGLISH = Voice("en-US-Joe", "Joe", ("en-US",), "MALE", 22_050, "Joe", "piper")
AWAY = Voice("fr-FR-Denise", "Denise", ("fr-FR",), "FEMALE", 24_000, "Denise", "edge", local=False)
THORSTEN = {"model": "piper-de_DE-thorsten", "languages": ["de-DE"], "voices": ["de-DE-Thorsten"]}
#: A model that other models need: alone it speaks nothing.
BASE = {"model": "kokoro", "languages": ["ja"], "voices": []}
ROBOT = Voice("es", "Spanish", ("es",), "MALE", 22_050, "Spanish", "espeak", "robotic")
HEART = Voice("en-US-Heart", "Heart", ("en-US",), "FEMALE", 24_000, "Heart", "hibari")
CARLA = {"model": "piper-es", "languages": ["es-ES"], "voices": ["es-ES-Carla"]}
SLOW = {
    "model": "kokoro-82m",
    "languages": ["en-US", "en-GB", "es-ES"],
    "voices": ["es-ES-Kokoro-Dora", "en-US-Kokoro-Michael"],
    "on_demand": True,
}


@pytest.fixture
def offered() -> OfferedVoices:
    piper = {"voices": [asdict(ENGLISH)], "fetchable": [BASE, THORSTEN]}
    edge = Offer("synthesis", "edge", ready=False, needs="a network", content={"voices": [asdict(AWAY)]}, place=1)
    return OfferedVoices(Offers((Offer("synthesis", "piper", ready=True, content=piper), edge)))


@pytest.mark.parametrize("name", ["de-DE-Thorsten", "DE_de-thorsten"])
def test_a_voice_that_could_be_fetched_is_refused_with_the_command_that_brings_it(
    offered: OfferedVoices, name: str
) -> None:
    with pytest.raises(VoiceNotInstalled, match="pressroom models fetch piper-de_DE-thorsten") as refused:
        offered.pick(voice_name=name, language="de", characters=9)

    assert (refused.value.status, refused.value.code) == (400, "voice_not_installed")
    assert refused.value.details == {"field": "voice_name"}


@pytest.mark.parametrize("language", ["de", "de-DE", "de_AT"])
def test_a_language_that_could_be_fetched_is_refused_with_the_command_that_brings_it(
    offered: OfferedVoices, language: str
) -> None:
    with pytest.raises(InvalidRequest, match="pressroom models fetch piper-de_DE-thorsten") as refused:
        offered.pick(voice_name=None, language=language, characters=9)

    assert (refused.value.status, refused.value.code) == (400, "language_not_supported")
    assert refused.value.details == {"field": "language"}


@pytest.mark.parametrize("language", ["xx", "", "de--DE", "ja"])
def test_a_language_that_nothing_would_bring_stays_unknown(offered: OfferedVoices, language: str) -> None:
    with pytest.raises(LanguageUnknown):
        offered.pick(voice_name=None, language=language, characters=9)


def test_a_voice_that_nobody_has_stays_unknown_and_one_that_is_away_is_not_to_be_fetched(
    offered: OfferedVoices,
) -> None:
    with pytest.raises(VoiceUnknown):
        offered.pick(voice_name="nobody", language=None, characters=9)
    with pytest.raises(VoiceUnavailable, match="a network"):
        offered.pick(voice_name=AWAY.id, language=None, characters=9)


@pytest.mark.parametrize(
    ("voice", "asked", "model"),
    [
        (ROBOT, {"language": "es"}, "kokoro-82m"),
        (ROBOT, {"language": "es-MX", "is_long": True}, "piper-es"),
        (ROBOT, {"language": "es", "voice_name": "es"}, None),
        (replace(ROBOT, language_codes=("sw",)), {"language": "sw"}, None),
        (HEART, {}, None),
        (HEART, {"language": "en-GB"}, "kokoro-82m"),
        (HEART, {"language": "en-AU"}, None),
        (HEART, {"voice_name": "onyx"}, "kokoro-82m"),
        (HEART, {"voice_name": "nova"}, None),
    ],
)
def test_a_robot_another_accent_and_another_gender_have_a_better_model(
    voice: Voice, asked: dict[str, Any], model: str | None
) -> None:
    content = {"voices": [asdict(ROBOT), asdict(HEART)], "fetchable": [CARLA, SLOW]}
    offered = OfferedVoices(Offers((Offer("synthesis", "piper", ready=True, content=content),)))

    found = offered.better(voice, **{"voice_name": None, "language": None, "is_long": False, **asked})

    assert (found and found.model) == model
