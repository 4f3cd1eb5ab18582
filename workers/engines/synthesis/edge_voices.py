"""The voices of the edge service: from its list, and from a file between two starts."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.log import get_logger
from pipeline.voices import Gender, Voice

log = get_logger(__name__)

#: What the service's audio is asked for in, in hertz.
SAMPLE_RATE = 24_000

#: The form of a voice's name. It is put into the markup that the service gets, and must not be more than a name there.
NAME = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,16}){1,3}Neural")

LOCALE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){1,3}")

GENDERS: Mapping[str, Gender] = {"Female": "FEMALE", "Male": "MALE"}

#: The voice that the library's authors prefer, and so we for who names none.
PREFERRED = "en-US-EmmaMultilingualNeural"


def voices_of(listed: Iterable[Mapping[str, Any]]) -> list[Voice]:
    """Return the voices of the service's list, the preferred one first; entries of another form are left out."""
    voices = [voice for entry in listed if (voice := _voice(entry)) is not None]
    return sorted(voices, key=lambda voice: voice.id != PREFERRED)


def load_voices(path: Path) -> list[Voice]:
    """Return the voices that were kept in a file; none when there is no such file, or it is broken."""
    try:
        voices = [Voice.from_document(document) for document in json.loads(path.read_text("utf-8"))]
        return [voice for voice in voices if NAME.fullmatch(voice.id)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("list of voices not read", path=str(path), error=str(error))
        return []


def save_voices(path: Path, voices: Sequence[Voice]) -> None:
    """Keep voices in a file for the next start; several processes may."""
    written = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        written.write_text(json.dumps([asdict(voice) for voice in voices]), "utf-8")
        written.replace(path)
    except OSError as error:
        log.warning("list of voices not kept", path=str(path), error=str(error))


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
    )
