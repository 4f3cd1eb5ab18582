"""The voices of the edge service, read from its list and kept in the store for the next start."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from capabilities.speech.voices.voices import Gender, Voice
from pipeline.errors import Gone, PressroomError
from pipeline.log import get_logger
from pipeline.storage.artifacts import Artifacts

log = get_logger(__name__)

#: The key of the kept list. The sweep deletes only folders named after a day.
VOICES_KEY = "engines/edge-voices.json"
#: In hertz, as the library asks for it.
SAMPLE_RATE = 24_000
#: The form of a voice's name, which becomes part of markup and so must hold none.
NAME = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,16}){1,3}Neural")

LOCALE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){1,3}")

GENDERS: Mapping[str, Gender] = {"Female": "FEMALE", "Male": "MALE"}
#: The default voice of the library's authors, for requests that name no voice.
PREFERRED = "en-US-EmmaMultilingualNeural"


def voices_of(listed: Iterable[Mapping[str, Any]]) -> list[Voice]:
    """Return the voices of the service's list, the preferred one first, without malformed entries."""
    voices = [voice for entry in listed if (voice := _voice(entry)) is not None]
    return sorted(voices, key=lambda voice: voice.id != PREFERRED)


def load_voices(artifacts: Artifacts) -> list[Voice]:
    """Return the voices in the store; none if there are none or they can't be read."""
    try:
        voices = [Voice.from_document(document) for document in json.loads(artifacts.get(VOICES_KEY))]
        return [voice for voice in voices if NAME.fullmatch(voice.id)]
    except Gone:
        return []
    except (PressroomError, ValueError, TypeError, KeyError) as error:
        log.warning("list of voices not read", key=VOICES_KEY, error=str(error))
        return []


def save_voices(artifacts: Artifacts, voices: Sequence[Voice]) -> None:
    """Store voices for the next start; several processes may do so at once."""
    try:
        artifacts.put(VOICES_KEY, json.dumps([asdict(voice) for voice in voices]).encode())
    except PressroomError as error:
        log.warning("list of voices not kept", key=VOICES_KEY, error=error.message)


def _voice(entry: Mapping[str, Any]) -> Voice | None:
    name, locale = str(entry.get("ShortName")), str(entry.get("Locale"))
    if entry.get("Status") == "Deprecated" or not NAME.fullmatch(name) or not LOCALE.fullmatch(locale):
        return None
    return Voice(
        id=name,
        name=name,
        language_codes=(locale,),
        ssml_gender=GENDERS.get(str(entry.get("Gender")), "NEUTRAL"),
        natural_sample_rate_hertz=SAMPLE_RATE,
        display_name=str(entry.get("FriendlyName") or name)[:200],
        engine="edge",
        local=False,
    )
