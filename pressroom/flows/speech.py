"""Speech: texts that are spoken."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import httpx2

from pressroom.documents.speech import Lexicon, LexiconEntry, Speech, Timing, Voice
from pressroom.errors import ConnectionLost
from pressroom.exchange import Ask, Emit, Flow, Read, StreamFlow
from pressroom.options import MusicOptions, SpokenMusicOptions, VoiceOptions, order, work
from pressroom.service import Answer, Files, Service, Target
from pressroom.uploads import Upload

#: How long the first sound of a stream may take, and each pause in it: it may wait behind others.
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
    **options: Unpack[VoiceOptions],
) -> Flow[Speech]:
    """Speak a text of up to 20,000 characters as one even MP3, with pauses of so many milliseconds between chunks."""
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

    Who stops early ends the job, and pays for what was spoken. Raises ConnectionLost when it breaks off."""
    ask = order("/tts/stream", {"text": text, "chunk_size": chunk_size}, options)
    yield from service.open(replace(ask, silence=STREAM_SILENCE_SECONDS))
    try:
        while (piece := (yield Read())) is not None:
            yield Emit(piece)
    except httpx2.TransportError as error:
        raise ConnectionLost(f"The stream broke off: {error}.") from error


def voices(
    service: Service,
    *,
    language: str | None = None,
    gender: str | None = None,
    quality: str | None = None,
    local: bool | None = None,
) -> Flow[list[Voice]]:
    """Return the voices, also of a language: en is en-GB's too."""
    answer = yield from service.get("/tts/voices", language=language, gender=gender, quality=quality, local=local)
    return [Voice.read(voice) for voice in answer.json["voices"]]


def lexicon(service: Service) -> Flow[Lexicon]:
    """Return the account's words that are said in another way."""
    return Lexicon.read((yield from service.get("/tts/lexicon")).json)


def set_lexicon(service: Service, entries: Iterable[LexiconEntry | Mapping[str, Any]]) -> Flow[Lexicon]:
    """Replace the account's words."""
    sent = [LexiconEntry.model_validate(entry).model_dump() for entry in entries]
    answer = yield from service.ask(Ask("PUT", "/tts/lexicon", fields={"entries": sent}))
    return Lexicon.read(answer.json)


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
        file=Path(answer.file) if answer.file is not None else None,
        held=answer.content,
    )
