"""Upload resources: begin, continue, look at and delete a resumable upload."""

import asyncio
import base64
import binascii
import re
from datetime import timedelta
from email.utils import format_datetime
from http import HTTPStatus
from uuid import UUID

import falcon
import falcon.asgi
from falcon.routing import map_http_methods

from api.http.operations import LOCATION, Operation, Reply
from api.http.parameters import Json
from api.http.request_context import context_of
from api.services.resource import Resource
from api.services.services import Services
from api.uploads.arriving import ALGORITHMS, Arriving, Checksum, ChecksumUnreadable
from api.uploads.documents import UploadDocument
from api.work.answers import show_json
from pipeline.errors import UnsupportedMediaType
from pipeline.identifiers import uuid7
from pipeline.storage.resumable import MOST_PARTS, ResumableUpload, begin_upload, end_upload, find_upload
from pipeline.storage.upload_errors import (
    DiskTooFull,
    TusVersionUnknown,
    UploadLengthInvalid,
    UploadNotFound,
    UploadOffsetWrong,
    UploadPiecesTooMany,
    UploadsTooMany,
    UploadTooLarge,
    UploadUsed,
)

TAG = "uploads"
VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
#: The parts of tus that are spoken, as OPTIONS lists them.
EXTENSIONS = "creation,expiration,termination,checksum"
#: Characters of a file's name that are kept: its end, which tells its type.
MAX_NAME = 120
NUMBER = re.compile(r"[0-9]{1,15}")
#: Stays free on the store's disk: databases may be on it.
RESERVE_BYTES = 500 * 10**6

LENGTH: Json = {
    "name": "Upload-Length",
    "in": "header",
    "required": True,
    "schema": {"type": "integer", "minimum": 1, "maximum": 2 * 2**30},
    "description": "Bytes of the whole file.",
}
METADATA: Json = {
    "name": "Upload-Metadata",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "Pairs of a name and a base64 value, separated by commas; `filename` names the file.",
}
OFFSET: Json = {
    "name": "Upload-Offset",
    "in": "header",
    "required": True,
    "schema": {"type": "integer", "minimum": 0},
    "description": "Bytes that have arrived so far, as HEAD says.",
}
CHECKSUM: Json = {
    "name": "Upload-Checksum",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": f"{' or '.join(ALGORITHMS)}, a space, and the digest of this body in base64.",
}


class TusResource(Resource):
    """The part that both paths of tus share."""

    async def on_options(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, **_: str) -> None:
        """Answer with what is spoken here; needs no key."""
        resp.status = falcon.HTTP_204
        resp.set_headers(
            {
                "Allow": ", ".join([*sorted(map_http_methods(self)), "OPTIONS"]),
                "Tus-Resumable": VERSION,
                "Tus-Version": VERSION,
                "Tus-Extension": EXTENSIONS,
                "Tus-Max-Size": str(self._services.settings.uploads.max_bytes),
                "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
            }
        )

    @property
    def _lifetime(self) -> timedelta:
        return timedelta(minutes=self._services.settings.uploads.expire_minutes)


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
        _check_version(req, resp)
        caller = await self._services.authenticate_reader(req)
        limits = self._services.settings.uploads
        length = _whole(req, "Upload-Length")
        if not length:
            raise UploadLengthInvalid("Upload-Length must be the size of the file in bytes, at least 1.")
        if length > limits.max_bytes:
            raise UploadTooLarge(
                f"The file has {length:,} bytes; an upload takes at most {limits.max_bytes:,}. Send a more compressed"
                " one, or send it in parts.",
                max_bytes=limits.max_bytes,
            )
        free = await asyncio.to_thread(self._services.artifacts.free_bytes)
        if free is not None and free < length + RESERVE_BYTES:
            raise DiskTooFull
        *_, upload = await self._services.database.run_together(
            begin_upload(
                uuid7(),
                caller.account_id,
                length=length,
                name=_file_name(req.get_header("Upload-Metadata") or ""),
                lifetime=self._lifetime,
                account_bytes=limits.account_bytes,
            )
        )
        if upload is None:
            raise UploadsTooMany(limits.account_bytes)
        resp.set_header("Location", f"{req.prefix}/uploads/{upload.id}")
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
        _check_version(req, resp)
        _show(resp, await self._own(req, upload_id), HTTPStatus.OK)

    @Operation(
        id="patch_upload",
        tag=TAG,
        summary="Send the next bytes of an upload; what arrives is kept even if the connection breaks.",
        parameters=(OFFSET, CHECKSUM),
        bytes_type=CONTENT_TYPE,
        replies={204: Reply("The bytes are kept; Upload-Offset says how many have arrived in all.")},
        errors=(409, 412, 413, 415, 460),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, upload_id: str) -> None:
        _check_version(req, resp)
        upload = await self._own(req, upload_id)
        if (req.content_type or "").partition(";")[0].strip().lower() != CONTENT_TYPE:
            raise UnsupportedMediaType(f"The body of an upload is {CONTENT_TYPE}; send it with this Content-Type.")
        offset = _whole(req, "Upload-Offset")
        if offset != upload.received:
            raise UploadOffsetWrong(offset, upload.received)
        if (req.content_length or 0) > upload.length - offset:
            raise UploadTooLarge.past_end(upload)
        if upload.parts >= MOST_PARTS:
            raise UploadPiecesTooMany
        checksum = _checksum(req)
        upload = await Arriving(self._services, upload, lifetime=self._lifetime, checksum=checksum).receive(req)
        _show(resp, upload, HTTPStatus.NO_CONTENT)

    @Operation(
        id="delete_upload",
        tag=TAG,
        summary="Delete an upload that no job uses.",
        replies={204: Reply("The upload is deleted.")},
        errors=(409, 412),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, upload_id: str) -> None:
        _check_version(req, resp)
        caller = await self._services.authenticate_reader(req)
        upload = await find_own_upload(self._services, caller.account_id, _id(upload_id))
        if not await self._services.database.run(end_upload(upload.id, caller.account_id)):
            raise UploadUsed(upload.id)
        await asyncio.to_thread(self._services.artifacts.delete_upload, upload.id)
        resp.status = falcon.HTTP_204

    async def _own(self, req: falcon.asgi.Request, upload_id: str) -> ResumableUpload:
        caller = await self._services.authenticate_reader(req)
        return await find_own_upload(self._services, caller.account_id, _id(upload_id))


async def find_own_upload(services: Services, account_id: UUID, upload_id: UUID) -> ResumableUpload:
    """Return an account's upload. Raises UploadNotFound."""
    upload = await services.database.run(find_upload(upload_id, account_id))
    if upload is None:
        raise UploadNotFound
    return upload


def _show(resp: falcon.asgi.Response, upload: ResumableUpload, status: HTTPStatus) -> None:
    if status == HTTPStatus.NO_CONTENT:
        resp.status = status
    else:
        show_json(resp, UploadDocument.of(upload), status)
    resp.set_headers(
        {
            "Upload-Offset": str(upload.received),
            "Upload-Length": str(upload.length),
            "Upload-Expires": format_datetime(upload.expires_at, usegmt=True),
        }
    )


def _check_version(req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
    """Name our version, and refuse another one; a client such as curl need not name any. Raises TusVersionUnknown."""
    context_of(req).headers["tus-resumable"] = VERSION
    if (sent := req.get_header("Tus-Resumable")) not in (None, VERSION):
        raise TusVersionUnknown(f"This is tus {VERSION}, not {str(sent)[:20]!a}.")


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise UploadNotFound from None


def _whole(req: falcon.asgi.Request, name: str) -> int:
    sent = req.get_header(name) or ""
    if not NUMBER.fullmatch(sent):
        raise UploadLengthInvalid(f"{name} must be a number of bytes, but {sent[:20]!a} was sent.", field=name)
    return int(sent)


def _checksum(req: falcon.asgi.Request) -> Checksum | None:
    sent = req.get_header("Upload-Checksum")
    if sent is None:
        return None
    algorithm, _, digest = sent.partition(" ")
    try:
        if algorithm in ALGORITHMS:
            return Checksum(algorithm, base64.b64decode(digest, validate=True))
    except binascii.Error:
        pass
    raise ChecksumUnreadable(
        f"Upload-Checksum must be {' or '.join(ALGORITHMS)}, a space, and the digest in base64; {sent[:60]!a} was sent."
    )


def _file_name(metadata: str) -> str:
    """Return the file's name of tus's metadata; "" if it has none that can be read."""
    pairs = dict(pair.strip().partition(" ")[::2] for pair in metadata.split(","))
    try:
        name = base64.b64decode(pairs.get("filename", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return "".join(filter(str.isprintable, re.split(r"[/\\]", name)[-1])).strip()[-MAX_NAME:]
