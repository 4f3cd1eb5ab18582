"""Transcription: recordings that are written down."""

from typing import Literal, Unpack

from pressroom.documents.transcripts import Transcript
from pressroom.exchange import Flow
from pressroom.options import Options, work
from pressroom.service import Service, Target
from pressroom.uploads import Upload

ROUTE = "/tts/stt"
Task = Literal["transcribe", "translate"]


def transcribe(
    service: Service,
    audio: Upload,
    *,
    language: str | None = None,
    prompt: str | None = None,
    task: Task | None = None,
    **options: Unpack[Options],
) -> Flow[Transcript]:
    """Write down what is said in a recording of up to four hours, with the times of segments and words.

    Without a language it is found out. `prompt` has names and words as they are spelled.
    The task translate gives English, where a model can."""
    fields = {"language": language, "prompt": prompt, "task": task, "response_format": "verbose_json"}
    answer = yield from work(service, ROUTE, fields, options, files={"audio": audio})
    return Transcript.read(answer.json)


def subtitles(
    service: Service,
    audio: Upload,
    *,
    form: Literal["srt", "vtt", "text"] = "srt",
    language: str | None = None,
    prompt: str | None = None,
    task: Task | None = None,
    to: Target = None,
    **options: Unpack[Options],
) -> Flow[str]:
    """Return what is said in a recording as SubRip, WebVTT or text; it goes into the file `to` as well."""
    fields = {"language": language, "prompt": prompt, "task": task, "response_format": form}
    answer = yield from work(service, ROUTE, fields, options, files={"audio": audio}, to=to)
    return answer.text
