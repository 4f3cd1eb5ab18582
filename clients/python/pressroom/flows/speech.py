"""Speech: speak texts, and transcribe recordings."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import SEEK_END
from pathlib import Path
from typing import Any, Literal, Unpack

import httpx2

from pressroom.documents.speech import Lexicon, LexiconEntry, Speech, Timing, Transcript, Voice
from pressroom.errors import ConnectionLost
from pressroom.exchange import Ask, Emit, Flow, Read, StreamFlow
from pressroom.files import Upload, open_upload, repeatable
from pressroom.flows.uploads import upload
from pressroom.options import (
    ChapterOptions,
    MusicOptions,
    RecordingOptions,
    SpokenMusicOptions,
    VoiceOptions,
    order,
    work,
)
from pressroom.service import Answer, Files, Service, Target

#: Larger recordings are uploaded before they are transcribed.
MOST_IN_A_FORM = 25 * 2**20
#: Longest pause before and within a stream: it may wait behind others.
STREAM_SILENCE_SECONDS = 900.0


def speak(
    service: Service,
    text: str,
    *,
    volume_gain_db: float | None = None,
    timestamps: bool = False,
    to: Target = None,
    **options: Unpack[VoiceOptions],
) -> Flow[Speech]:
    """Speak a text of up to 10,000 characters as WAV."""
    fields = {"text": text, "volume_gain_db": volume_gain_db}
    return _speech(service, "/tts", fields, options, timestamps=timestamps, to=to)


def speak_long(
    service: Service,
    text: str,
    *,
    pause_duration: float | None = None,
    timestamps: bool = False,
    to: Target = None,
    **options: Unpack[ChapterOptions],
) -> Flow[Speech]:
    """Speak a text of up to 20,000 characters as one MP3, `pause_duration` milliseconds between chunks."""
    fields = {"text": text, "pause_duration": pause_duration}
    return _speech(service, "/tts/batch", fields, options, timestamps=timestamps, to=to)


def speak_with_music(
    service: Service,
    text: str,
    music: Upload,
    *,
    pause_duration: float | None = None,
    timestamps: bool = False,
    to: Target = None,
    **options: Unpack[SpokenMusicOptions],
) -> Flow[Speech]:
    """Speak a text of up to 20,000 characters over music, as MP3."""
    fields = {"text": text, "pause_duration": pause_duration}
    return _speech(service, "/tts/with-music", fields, options, files={"music": music}, timestamps=timestamps, to=to)


def add_music(
    service: Service, audio: Upload, music: Upload, *, to: Target = None, **options: Unpack[MusicOptions]
) -> Flow[Speech]:
    """Put music under a recording, as MP3."""
    return _speech(service, "/tts/add-music", {}, options, files={"audio": audio, "music": music}, to=to)


def stream_speech(
    service: Service, text: str, *, chunk_size: int | None = None, **options: Unpack[VoiceOptions]
) -> StreamFlow[bytes]:
    """Speak a text of up to 50,000 characters, as one MP3 that arrives while it is spoken.

    Stopping early ends the job and charges only the spoken part. Raises ConnectionLost when the stream breaks off."""
    ask = order("/tts/stream", {"text": text, "chunk_size": chunk_size}, options)
    yield from service.open(replace(ask, silence=STREAM_SILENCE_SECONDS))
    try:
        while (piece := (yield Read())) is not None:
            yield Emit(piece)
    except httpx2.TransportError as error:
        raise ConnectionLost(f"The stream broke off: {error}. Speak the rest of the text again.") from None


def voices(
    service: Service,
    *,
    language: str | None = None,
    gender: str | None = None,
    quality: str | None = None,
    local: bool | None = None,
) -> Flow[list[Voice]]:
    """List the voices, all or some: the language en includes en-GB."""
    answer = yield from service.get("/tts/voices", language=language, gender=gender, quality=quality, local=local)
    return [Voice.read(voice) for voice in answer.json["voices"]]


def lexicon(service: Service) -> Flow[Lexicon]:
    """Return the account's pronunciations."""
    return Lexicon.read((yield from service.get("/tts/lexicon")).json)


def set_lexicon(service: Service, entries: Iterable[LexiconEntry | Mapping[str, Any]]) -> Flow[Lexicon]:
    """Replace the account's pronunciations."""
    sent = [entry.to_dict() if isinstance(entry, LexiconEntry) else dict(entry) for entry in entries]
    answer = yield from service.ask(Ask("PUT", "/tts/lexicon", fields={"entries": sent}))
    return Lexicon.read(answer.json)


def transcribe(service: Service, audio: Upload, **options: Unpack[RecordingOptions]) -> Flow[Transcript]:
    """Transcribe a recording of up to 2 GiB and four hours, with the times of segments and words."""
    answer = yield from _transcript(service, audio, {"response_format": "verbose_json"}, options)
    return Transcript.read(answer.json)


def subtitles(
    service: Service,
    audio: Upload,
    *,
    form: Literal["srt", "vtt", "text"] = "srt",
    to: Target = None,
    **options: Unpack[RecordingOptions],
) -> Flow[str]:
    """Return the text of a recording as SubRip, WebVTT or text, and write it to the file `to` if there is one."""
    answer = yield from _transcript(service, audio, {"response_format": form}, options, to=to)
    return answer.text


def name_speakers(service: Service, job_id: str, names: Mapping[str, str], *, to: Target = None) -> Flow[str]:
    """Name the speakers of a transcript, as `{"Speaker 1": "Ada"}`; return it in its form, and write it to `to`."""
    ask = Ask("PATCH", f"/jobs/{job_id}/transcript", fields={"speakers": dict(names)})
    return (yield from service.ask(ask, to=to)).text


def _transcript(
    service: Service, audio: Upload, fields: Mapping[str, Any], options: Mapping[str, Any], *, to: Target = None
) -> Flow[Answer]:
    """Send a recording as a file of the request, or upload it before if it is too large for that."""
    with repeatable(audio) as known:
        with open_upload(known) as opened:
            is_large = opened.seek(0, SEEK_END) > MOST_IN_A_FORM
        if not is_large:
            return (yield from work(service, "/tts/stt", fields, options, files={"audio": known}, to=to))
        upload_id = yield from upload(service, known)
    return (yield from work(service, "/transcriptions", {**fields, "upload": upload_id}, options, to=to))


def _speech(
    service: Service,
    path: str,
    fields: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    files: Files | None = None,
    timestamps: bool = False,
    to: Target = None,
) -> Flow[Speech]:
    if not timestamps:
        return _sound((yield from work(service, path, fields, options, files=files, to=to)))
    answer = yield from work(service, path, {**fields, "timestamps": True}, options, files=files)
    timing = Timing.read(answer.json)
    sound = _sound((yield from service.follow(timing.audio_url, to=to)))
    srt = yield from service.follow(timing.srt_url)
    vtt = yield from service.follow(timing.vtt_url)
    return replace(
        sound,
        job_id=answer.headers.get("X-Job-Id"),
        credits_used=timing.credits_used,
        engine=timing.engine,
        voice=timing.voice,
        warning=next(iter(timing.warnings), None),
        timing=timing,
        srt=srt.content.decode(),
        vtt=vtt.content.decode(),
    )


def _sound(answer: Answer) -> Speech:
    used = answer.headers.get("X-Credits-Used")
    return Speech(
        content_type=answer.headers.get("Content-Type", ""),
        job_id=answer.headers.get("X-Job-Id"),
        credits_used=int(used) if used is not None else None,
        engine=answer.headers.get("X-Engine"),
        voice=answer.headers.get("X-Voice"),
        warning=answer.headers.get("X-Warning"),
        file=Path(answer.file) if answer.file is not None else None,
        held=answer.content,
    )
