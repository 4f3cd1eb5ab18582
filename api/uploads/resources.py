"""Upload resources: begin, continue, look at and delete a resumable upload."""

import asyncio
import base64
import re
import time
from datetime import timedelta
from email.utils import format_datetime
from http import HTTPStatus
from uuid import UUID

import falcon
import falcon.asgi
from falcon.routing import map_http_methods
from pydantic import BaseModel, ConfigDict, Field

from api.http.bodies.bodies import CHUNK_BYTES, coming, require_type
from api.http.operations import LOCATION, Operation, Reply
from api.http.parameters import Json
from api.http.request_context import context_of
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.identifiers import uuid7
from pipeline.storage.artifacts import upload_key
from pipeline.storage.resumable import (
    MOST_PARTS,
    ResumableUpload,
    add_part,
    begin_upload,
    end_upload,
    find_part_keys,
    find_upload,
    part_name,
)
from pipeline.storage.upload_errors import (
    DiskTooFull,
    TusVersionUnknown,
    UploadLengthInvalid,
    UploadNotFound,
    UploadOffsetWrong,
    UploadsTooMany,
    UploadTooLarge,
    UploadUsed,
)
from pipeline.timestamps import Timestamp

TAG = "uploads"
VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
#: A part is written when it has so many bytes, or when so many seconds have passed since the last one.
PART_BYTES, PART_SECONDS = 4 * 2**20, 20.0
#: Characters of a file's name that are kept: its end, which tells its type.
MAX_NAME = 120
NUMBER = re.compile(r"[0-9]{1,15}")
#: Stays free on the store's disk: databases may be on it.
RESERVE_BYTES = 500 * 10**6


def _header(name: str, meaning: str, schema: Json, *, required: bool = True) -> Json:
    return {"name": name, "in": "header", "required": required, "schema": schema, "description": meaning}


LENGTH = _header("Upload-Length", "Bytes of the whole file.", {"type": "integer", "minimum": 1, "maximum": 2 * 2**30})
METADATA = _header(
    "Upload-Metadata",
    "Pairs of a name and a base64 value, separated by commas; `filename` names the file.",
    {"type": "string"},
    required=False,
)
OFFSET = _header("Upload-Offset", "Bytes that have arrived so far, as HEAD says.", {"type": "integer", "minimum": 0})


class UploadDocument(BaseModel):
    """A resumable upload."""

    model_config = ConfigDict(from_attributes=True)

    id: UUID = Field(description="Send it as `upload` with the request that uses the file; the job will have this id.")
    length: int = Field(description="Bytes of the whole file.")
    offset: int = Field(description="Bytes that have arrived.", validation_alias="received")
    name: str
    expires_at: Timestamp = Field(description="The upload is deleted then, unless more of it arrives or a job uses it.")


class TusResource(Resource):
    """The part that both paths of tus share."""

    async def on_options(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, **_: str) -> None:
        """Answer with what is spoken here; needs no key."""
        resp.status = falcon.HTTP_204
        resp.set_headers(
            {
                # Falcon answers the preflight of another site's page by it.
                "Allow": ", ".join(sorted(map_http_methods(self))),
                "Tus-Resumable": VERSION,
                "Tus-Version": VERSION,
                "Tus-Extension": "creation,expiration,termination",
                "Tus-Max-Size": str(self._services.settings.uploads.max_bytes),
            }
        )

    @property
    def _lifetime(self) -> timedelta:
        return timedelta(minutes=self._services.settings.uploads.expire_minutes)

    async def _account(self, req: falcon.asgi.Request) -> UUID:
        """Name our version, refuse another one, and return who calls; curl need not name any.

        Raises TusVersionUnknown, Unauthorized."""
        context_of(req).headers["tus-resumable"] = VERSION
        if (sent := req.get_header("Tus-Resumable")) not in (None, VERSION):
            raise TusVersionUnknown(f"This is tus {VERSION}, not {str(sent)[:20]!a}.")
        return (await self._services.authenticate_reader(req)).account_id


class Uploads(TusResource):
    """POST /uploads."""

    @Operation(
        id="post_uploads",
        tag=TAG,
        summary="Begin a resumable upload (tus 1.0).",
        parameters=(LENGTH, METADATA),
        bytes_type="",
        replies={201: Reply("The upload; send its bytes to Location with PATCH.", UploadDocument, headers=LOCATION)},
        errors=(412, 413, 503),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        account_id = await self._account(req)
        limits, services = self._services.settings.uploads, self._services
        length = _whole(req, "Upload-Length", least=1)
        if length > limits.max_bytes:
            raise UploadTooLarge(
                f"The file has {length:,} bytes; an upload takes at most {limits.max_bytes:,}. Send a more compressed"
                " one, or send it in parts.",
                max_bytes=limits.max_bytes,
            )
        free = await asyncio.to_thread(services.artifacts.free_bytes)
        if free is not None and free < length + RESERVE_BYTES:
            raise DiskTooFull
        *_, upload = await services.database.run_together(
            begin_upload(
                uuid7(),
                account_id,
                length=length,
                name=_file_name(req.get_header("Upload-Metadata") or ""),
                lifetime=self._lifetime,
                account_bytes=limits.account_bytes,
            )
        )
        if upload is None:
            raise UploadsTooMany(
                f"The account's uploads may have {limits.account_bytes:,} bytes together, this one included. Delete one"
                " (DELETE /uploads/ID), or wait until a job that uses one has ended, or one expires.",
                max_bytes=limits.account_bytes,
            )
        # Relative, as all our Locations: behind a proxy the request's scheme is not the client's.
        resp.set_header("Location", f"/uploads/{upload.id}")
        _show(resp, upload, HTTPStatus.CREATED)


class OneUpload(TusResource):
    """GET, HEAD, PATCH and DELETE /uploads/{upload_id}."""

    @Operation(
        id="get_upload",
        tag=TAG,
        summary="Return how much of an upload has arrived; HEAD tells the same in headers.",
        replies={200: Reply("The upload.", UploadDocument)},
        errors=(412,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, upload_id: str) -> None:
        _show(resp, await self._find(await self._account(req), upload_id), HTTPStatus.OK)

    @Operation(
        id="patch_upload",
        tag=TAG,
        summary="Send the next bytes of an upload; what arrives is kept even if the connection breaks.",
        parameters=(OFFSET,),
        bytes_type=CONTENT_TYPE,
        replies={204: Reply("The bytes are kept; Upload-Offset says how many have arrived in all.")},
        errors=(409, 412, 413, 415),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, upload_id: str) -> None:
        account_id = await self._account(req)
        upload = await self._find(account_id, upload_id)
        require_type(req, CONTENT_TYPE)
        if (offset := _whole(req, "Upload-Offset")) != upload.received:
            raise UploadOffsetWrong(offset, upload.received)
        _require_room(upload, req.content_length or 0)
        _show(resp, await self._receive(req, account_id, upload), HTTPStatus.NO_CONTENT)

    @Operation(
        id="delete_upload",
        tag=TAG,
        summary="Delete an upload that no job uses.",
        replies={204: Reply("The upload is deleted.")},
        errors=(409, 412),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, upload_id: str) -> None:
        account_id = await self._account(req)
        upload = await self._find(account_id, upload_id)
        if not await self._services.database.run(end_upload(upload.id, account_id)):
            raise UploadUsed(upload)
        await asyncio.to_thread(self._services.artifacts.delete_upload, upload.id)
        resp.status = falcon.HTTP_204

    async def _find(self, account_id: UUID, upload_id: str) -> ResumableUpload:
        """Return an account's upload. Raises UploadNotFound."""
        try:
            upload = await self._services.database.run(find_upload(UUID(upload_id), account_id))
        except ValueError:
            upload = None
        if upload is None:
            raise UploadNotFound
        return upload

    async def _receive(self, req: falcon.asgi.Request, account_id: UUID, upload: ResumableUpload) -> ResumableUpload:
        """Return the upload with what has arrived, which may be less than was sent if the connection broke.

        Raises UploadTooLarge, UploadOffsetWrong, UploadNotFound, ServiceUnavailable."""
        with coming.room() as take:
            buffer, began = bytearray(), time.monotonic()
            while chunk := await req.stream.read(CHUNK_BYTES):
                _require_room(upload, len(buffer) + len(chunk))
                take(len(chunk))
                buffer += chunk
                if len(buffer) >= PART_BYTES or time.monotonic() - began > PART_SECONDS:
                    upload = await asyncio.shield(self._keep(account_id, upload, bytes(buffer)))
                    take(-len(buffer))
                    buffer, began = bytearray(), time.monotonic()
            # Shielded: a second after its client has left, a request is cancelled, and what arrived would not count.
            return await asyncio.shield(self._keep(account_id, upload, bytes(buffer))) if buffer else upload

    async def _keep(self, account_id: UUID, upload: ResumableUpload, content: bytes) -> ResumableUpload:
        """Write a part, and count it. If that raises, the part stays: a broken connection may have hidden its count."""
        part = part_name(upload.received)
        key = upload_key(upload.id, part)
        await asyncio.to_thread(self._services.artifacts.put, key, content)
        kept = await self._services.database.run(add_part(upload, part, size=len(content), lifetime=self._lifetime))
        if kept is None:  # another request has sent these bytes meanwhile, or deleted the upload
            if key not in await self._services.database.run(find_part_keys(upload.id)):
                await asyncio.to_thread(self._services.artifacts.delete, key)
            raise UploadOffsetWrong(upload.received, (await self._find(account_id, str(upload.id))).received)
        return kept


def _require_room(upload: ResumableUpload, size: int) -> None:
    """Raise UploadTooLarge unless the upload can take so many bytes more, in one more piece."""
    if upload.received + size > upload.length:
        raise UploadTooLarge(
            f"The body goes past the end of the upload, which was announced with {upload.length:,} bytes and has"
            f" {upload.received:,}. Send at most the rest, or begin again with the right Upload-Length."
        )
    if upload.parts >= MOST_PARTS:
        raise UploadTooLarge(f"The upload came in {MOST_PARTS:,} pieces, which is the most. Send larger pieces.")


def _show(resp: falcon.asgi.Response, upload: ResumableUpload, status: HTTPStatus) -> None:
    if status == HTTPStatus.NO_CONTENT:
        resp.status = status
    else:
        show_json(resp, UploadDocument.model_validate(upload), status)
    resp.set_headers(
        {
            "Upload-Offset": str(upload.received),
            "Upload-Length": str(upload.length),
            "Upload-Expires": format_datetime(upload.expires_at, usegmt=True),
        }
    )


def _whole(req: falcon.asgi.Request, name: str, *, least: int = 0) -> int:
    sent = req.get_header(name) or ""
    if not NUMBER.fullmatch(sent) or int(sent) < least:
        raise UploadLengthInvalid(
            f"{name} must be a number of bytes, at least {least}; {sent[:20]!a} is not.", field=name
        )
    return int(sent)


def _file_name(metadata: str) -> str:
    """Return the file's name of tus's metadata; "" if it has none that can be read."""
    pairs = dict(pair.strip().partition(" ")[::2] for pair in metadata.split(","))
    try:
        name = base64.b64decode(pairs.get("filename", ""), validate=True).decode()
    except ValueError:  # neither base64 nor ASCII, or not UTF-8
        return ""
    return "".join(filter(str.isprintable, re.split(r"[/\\]", name)[-1])).strip()[-MAX_NAME:]
