"""Options: what the methods take by keyword that have work done; all may be left out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from pressroom.documents.jobs import Job
from pressroom.exchange import Ask, Flow
from pressroom.service import Answer, Files, Service, Target, posting


class SubmitOptions(TypedDict, total=False):
    """For every job."""

    #: Up to 255 printable ASCII characters; by default each call has one of its own. The same key is the same job.
    idempotency_key: str | None
    #: Where the job's end is told, and which events are; by default the account's own.
    webhook_url: str | None
    webhook_events: Sequence[str] | None
    #: Further fields, such as those of a newer service.
    more: Mapping[str, Any] | None


class Options(SubmitOptions, total=False):
    """For a job that is waited for."""

    #: Called with the job whenever it has moved on.
    progress: Callable[[Job], object] | None


class VoiceOptions(Options, total=False):
    """For texts that are spoken."""

    #: A name of `voices()`; by default one of the text's language.
    voice: str | None
    #: Such as en or es-MX.
    language: str | None
    #: 0.25 to 4.
    speed: float | None
    #: Semitones, -20 to 20.
    pitch: float | None
    #: Whether pause marks are read aloud.
    plain_text: bool | None


class MusicOptions(Options, total=False):
    """For music under speech (docs/speech.md, Music underneath)."""

    #: Decibels, -60 to 0.
    music_volume: float | None
    #: Milliseconds, up to 10,000.
    fade_duration: float | None
    #: Whether the music dips while someone speaks.
    duck: bool | None
    #: Seconds of music alone, up to 30.
    music_intro: float | None
    music_outro: float | None


class SpokenMusicOptions(VoiceOptions, MusicOptions, total=False):
    """For texts that are spoken over music."""


#: Options that are no fields of the request.
_NOT_SENT = {"idempotency_key", "progress", "more"}
#: Options whose field has another name.
_RENAMED = {"voice": "voice_name"}


def work(
    service: Service,
    path: str,
    fields: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    files: Files | None = None,
    to: Target = None,
) -> Flow[Answer]:
    """Have a job done, and return its result."""
    return service.work(
        path,
        _sent(fields, options),
        files,
        to=to,
        progress=options.get("progress"),
        key=options.get("idempotency_key"),
    )


def order(
    path: str,
    fields: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    files: Files | None = None,
    prefer: str | None = None,
) -> Ask:
    """Return the request that makes a job."""
    return posting(path, _sent(fields, options), files, key=options.get("idempotency_key"), prefer=prefer)


def _sent(fields: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    named = {_RENAMED.get(name, name): value for name, value in options.items() if name not in _NOT_SENT}
    return {**fields, **named, **(options.get("more") or {})}
