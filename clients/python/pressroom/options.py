"""Options: the optional keywords of methods that submit a job."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from pressroom.documents.jobs import Job
from pressroom.exchange import Ask, Flow
from pressroom.service import Answer, Files, Service, Target, posting


class SubmitOptions(TypedDict, total=False):
    """For every job."""

    #: Up to 255 printable ASCII characters, by default new ones for each call. The same key is the same job.
    idempotency_key: str | None
    webhook_url: str | None  #: receives the job's end instead of the account's webhook
    webhook_events: Sequence[str] | None
    priority: Literal["low", "normal", "high"] | None  #: among the account's own jobs, by default the key's
    more: Mapping[str, Any] | None  #: further fields, such as those of a newer service


class Options(SubmitOptions, total=False):
    """For a job that the method waits for."""

    progress: Callable[[Job], object] | None  #: called with the job whenever it has progressed


class VoiceOptions(Options, total=False):
    """For spoken texts."""

    voice: str | None  #: a name of `voices()`, by default one of the text's language
    language: str | None  #: such as en or es-MX
    speed: float | None  #: 0.25 to 4
    pitch: float | None  #: semitones, -20 to 20
    plain_text: bool | None  #: whether pause marks are read aloud


class Mp3Options(Options, total=False):
    """For MP3 files."""

    bit_rate: int | None  #: kilobits a second, 32 to 320
    channels: Literal[1, 2] | None


class ChapterOptions(VoiceOptions, Mp3Options, total=False):
    """For texts spoken into an MP3."""


class MusicOptions(Mp3Options, total=False):
    """For music under speech (docs/speech.md, Background music)."""

    music_volume: float | None  #: decibels, -60 to 0
    fade_duration: float | None  #: milliseconds, up to 10,000
    duck: bool | None  #: whether the music dips under speech
    music_intro: float | None  #: seconds of music alone, up to 30
    music_outro: float | None


class SpokenMusicOptions(VoiceOptions, MusicOptions, total=False):
    """For texts spoken over music."""


class RecordingOptions(Options, total=False):
    """For recordings."""

    language: str | None  #: detected by default
    prompt: str | None  #: names and words with their spelling
    keep_audio: bool | None  #: as long as the transcript
    task: Literal["transcribe", "translate"] | None  #: translate gives English, where a model can
    diarize: bool | None  #: whether to tell who speaks
    speakers: int | None  #: how many people speak, for diarize


#: Options that are not sent as fields.
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
    """Submit a job, wait for it, and return its result."""
    progress, key = options.get("progress"), options.get("idempotency_key")
    return service.work(path, _sent(fields, options), files, to=to, progress=progress, key=key)


def order(
    path: str,
    fields: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    files: Files | None = None,
    prefer: str | None = None,
) -> Ask:
    """Return the request that submits a job."""
    return posting(path, _sent(fields, options), files, key=options.get("idempotency_key"), prefer=prefer)


def _sent(fields: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    named = {_RENAMED.get(name, name): value for name, value in options.items() if name not in _NOT_SENT}
    return {**fields, **named, **(options.get("more") or {})}
