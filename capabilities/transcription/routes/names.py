"""Names: a transcript in which speakers have the names that their account gave them; they are kept with the job."""

import asyncio
import json
import re
from collections.abc import Callable
from html import escape
from typing import Annotated

import falcon.asgi
from pydantic import Field, StringConstraints

from api.http.bodies.fields import read_sent_fields
from api.http.operations import Operation, Reply
from api.jobs.job_resources import JobNotFinished, JobNotFound, find_own_job
from api.services.resource import Resource, read_sent
from api.work.answers import refuse_gone
from capabilities.transcription.kinds.transcription import (
    LongTranscription,
    RecordingInput,
    TranscriptFile,
    Transcription,
)
from capabilities.transcription.kinds.transcripts import CONTENT_TYPES, MOST_SPEAKERS, Form
from pipeline import lifecycle
from pipeline.accounts.keys import Caller
from pipeline.errors import InvalidRequest
from pipeline.jobs.job_views import EndedItem, read_ended
from pipeline.kind import Request
from pipeline.lifecycle.jobs import Job

PATH = "/jobs/{job_id}/transcript"
TRANSCRIPT = {200: Reply("The transcript.", Transcription.answer.model, Transcription.answer.alternatives)}
#: A turn in text and subtitles.
SPEAKER = re.compile(r"^(Speaker \d+): ", re.MULTILINE)
Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")]


class SpeakerUnknown(InvalidRequest):
    """Nobody of that name speaks in the transcript."""

    code = "speaker_unknown"
    field = "speakers"


class NamesRequest(Request):
    """Names for the speakers of a transcript."""

    speakers: dict[str, Name] = Field(
        max_length=MOST_SPEAKERS, description="A name for each, as `Speaker 1`; an empty one takes a name back."
    )


class NamedTranscript(Resource):
    """GET and PATCH /jobs/{id}/transcript."""

    @Operation(
        id="get_job_transcript",
        tag="transcription",
        summary="Return a job's transcript in its form, with the names of the speakers.",
        replies=TRANSCRIPT,
        errors=(409, 410),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        await self._show(resp, await self._services.authenticate_reader(req), job_id, {})

    @Operation(
        id="patch_job_transcript",
        tag="transcription",
        summary="Name the speakers of a transcript, and return it with the names.",
        body=NamesRequest,
        example={"speakers": {"Speaker 1": "Ada Lovelace"}},
        replies=TRANSCRIPT,
        errors=(409, 410, 413, 415),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller, body = await read_sent(self._services, req)
        await self._show(resp, caller, job_id, read_sent_fields(req, NamesRequest, body).speakers)

    async def _show(self, resp: falcon.asgi.Response, caller: Caller, job_id: str, names: dict[str, str]) -> None:
        """Keep names, and answer with the transcript. Raises JobNotFound, JobNotFinished, Gone, SpeakerUnknown."""
        job, ended = await self._find(caller, job_id)
        file = TranscriptFile.model_validate(ended.item.output)
        text = (await asyncio.to_thread(self._services.artifacts.get, file.artifact)).decode()
        edited = ended.edited or {}
        texts = edited.get("texts") or {}
        known: dict[str, str] = texts.get("speakers") or {}
        if names:
            _require(names, ended, text, file.response_format)
            known = known | names
            edited = {**edited, "texts": {**texts, "speakers": known}}
            kept = lifecycle.edit(job.id, job.account_id, ended.item.index, edited)
            if not await self._services.database.run(kept):
                raise JobNotFound("The transcript was deleted meanwhile.")
        if known:
            text = renamed(text, file.response_format, lambda speaker: known.get(speaker) or speaker)
        resp.content_type, resp.text = CONTENT_TYPES[file.response_format], text

    async def _find(self, caller: Caller, job_id: str) -> tuple[Job, EndedItem]:
        job = await find_own_job(self._services, caller, job_id)
        kind = self._services.kinds.get(job.kind)
        if not isinstance(kind, Transcription | LongTranscription):
            raise JobNotFound("This job makes no transcript.")
        if not job.is_final:
            raise JobNotFinished(f"The job is {job.state}; ask again when it has ended.")
        refuse_gone(job)
        for ended in await self._services.database.run(read_ended(job.id, kind)):
            if ended.item.output is not None:
                return job, ended
        raise JobNotFound(f"The job has {job.state}, so there is no transcript.")


def _require(names: dict[str, str], ended: EndedItem, text: str, form: Form) -> None:
    """Refuse names for somebody who does not speak. Raises SpeakerUnknown."""
    found: dict[str, None] = {}
    if RecordingInput.model_validate(ended.item.input).speakers is not None:
        renamed(text, form, lambda speaker: str(found.setdefault(speaker) or speaker))
    if unknown := next((speaker for speaker in names if speaker not in found), None):
        there = f"it has {', '.join(found)}" if found else "ask for them with diarize"
        raise SpeakerUnknown(f"The transcript has no speaker {unknown[:40]!r}; {there}.")


def renamed(text: str, form: Form, name_of: Callable[[str], str]) -> str:
    """Return a transcript with other names of its speakers."""
    if not CONTENT_TYPES[form].endswith("json"):

        def turn(found: re.Match[str]) -> str:
            name = name_of(found[1])
            # Markup in WebVTT, and an arrow in SubRip, would be taken for something else.
            return f"{escape(name, quote=False) if form == 'vtt' else name.replace('-->', '→')}: "

        return SPEAKER.sub(turn, text)
    document = json.loads(text)
    for segment in document.get("segments") or ():
        if segment.get("speaker"):
            segment["speaker"] = name_of(segment["speaker"])
    if document.get("speakers"):
        document["speakers"] = list(map(name_of, document["speakers"]))
    return json.dumps(document, ensure_ascii=False)
