"""Forms: multipart bodies, whose files go straight into the store."""

import asyncio
import hashlib
import re
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi
from falcon.asgi.multipart import BodyPart, MultipartForm
from falcon.asgi.reader import BufferedReader
from falcon.media.multipart import MultipartFormHandler, MultipartParseOptions
from pydantic import BaseModel

from api.http.bodies.bodies import CHUNK_BYTES, Take, coming, require_type, require_whole
from api.http.bodies.fields import ANYWHERE, MAX_SHOWN, ignore
from api.http.bodies.sent_fields import fields_of
from pipeline.errors import InvalidRequest, PayloadTooLarge, PressroomError
from pipeline.kind import AnyKind
from pipeline.log import get_logger
from pipeline.storage.artifacts import Artifacts, upload_key

log = get_logger(__name__)

#: Most unknown parts of a form, which are skipped; each takes time.
SPARE_PARTS = 1_000
#: Most entries of all lists of a form.
MOST_ENTRIES = 100
#: Characters of a file's name that are kept: its end, which tells its type.
MAX_FILE_NAME = 120
#: Most bytes of a part's headers.
MAX_PART_HEADERS_BYTES = 8 * 1024
#: The end of a part's headers.
HEADERS_END = b"\r\n\r\n"
#: The remedy for a file that is too large, where its kind knows no other.
SMALLER = "Send a shorter or more compressed one."
#: Transfer encodings that change nothing (RFC 2045, section 6.2).
IDENTITY_ENCODINGS = frozenset((b"7bit", b"8bit", b"binary"))


class FormInvalid(InvalidRequest):
    """The body is not a valid form."""

    code = "form_invalid"


@dataclass(frozen=True, slots=True)
class FormShape:
    """The fields of a form: files with the names they are stored under, texts, and lists of texts.

    A list's field is repeated for each entry, also as `name[]`; so are the `repeated` files."""

    files: Mapping[str, str]
    texts: frozenset[str]
    lists: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, kind: AnyKind) -> "FormShape":
        request: type[BaseModel] = kind.request
        files, texts = dict.fromkeys((*kind.files, *kind.uploads)), frozenset(fields_of(request))
        many = kind.many_files
        if many is None:
            return cls({name: name for name in files}, texts)
        names = {name: name for name in (*files, many.file)}
        return cls(names, texts | fields_of(many.entry).keys(), repeated=frozenset((many.file,)))

    @property
    def most_parts(self) -> int:
        return len(self.files) + len(self.texts) + (MOST_ENTRIES if self.lists or self.repeated else 0)

    def list_of(self, name: str) -> str | None:
        """Return the list that a field is an entry of, or None."""
        plain = name.removesuffix("[]")
        return plain if plain in self.lists else None


class Upload:
    """The files of one request, deleted at its end unless a job wants them."""

    def __init__(self, artifacts: Artifacts, job_id: UUID) -> None:
        self._artifacts = artifacts
        self.job_id = job_id
        self.is_wanted = False
        #: SHA-256 of each file that has arrived, and what its sender calls it, by its field.
        self.hashes: dict[str, str] = {}
        self.names: dict[str, str] = {}
        #: Under which id its files lie: that of the job may become another upload's, which a field names.
        self._stored_as: UUID | None = None

    async def __aenter__(self) -> "Upload":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._stored_as is None or self.is_wanted:
            return
        try:
            # Shielded: a leaving client cancels the request, perhaps right now.
            await asyncio.shield(asyncio.to_thread(self._artifacts.delete_upload, self._stored_as))
        except PressroomError as failure:
            # The sweep deletes uploads without a job after an hour.
            log.warning("refused upload not deleted", job_id=str(self._stored_as), error=failure.message)

    async def store(
        self,
        field: str,
        chunks: AsyncIterator[bytes],
        *,
        max_bytes: int,
        name: str = "",
        remedy: str = SMALLER,
    ) -> None:
        """Store a file and its name. Raises PayloadTooLarge, InvalidRequest if it is empty, ServiceUnavailable."""
        self._stored_as = self.job_id
        digest = hashlib.sha256()
        size = 0

        async def counted() -> AsyncIterator[bytes]:
            nonlocal size
            async for chunk in chunks:
                size += len(chunk)
                if size > max_bytes:
                    raise PayloadTooLarge(
                        f"The file {field} is larger than {max_bytes:,} bytes. {remedy}",
                        field=field,
                        max_bytes=max_bytes,
                    )
                digest.update(chunk)
                yield chunk

        await self._artifacts.put_stream(upload_key(self.job_id, field), counted())
        if not size:
            raise InvalidRequest(f"The file {field} is empty.", code="file_empty", field=field)
        self.hashes[field] = digest.hexdigest()
        if plain := "".join(filter(str.isprintable, re.split(r"[/\\]", name)[-1])).strip():
            self.names[field] = plain[-MAX_FILE_NAME:]


class FormReader:
    """Reads forms of one shape."""

    def __init__(
        self,
        shape: FormShape,
        *,
        max_file_bytes: int,
        max_field_bytes: int,
        max_bytes: int,
        remedy: str = SMALLER,
    ) -> None:
        self._shape = shape
        self._files = shape.files
        self._texts = {*shape.texts, *ANYWHERE}
        self._max_file_bytes = max_file_bytes
        self._max_field_bytes = max_field_bytes
        self._max_bytes = max_bytes
        self._remedy = remedy
        self._max_parts = shape.most_parts + len(ANYWHERE) + SPARE_PARTS
        options = MultipartParseOptions()
        options.max_body_part_count = 0  # counted here, to say how many there may be
        options.max_body_part_headers_size = MAX_PART_HEADERS_BYTES
        self._handler = MultipartFormHandler(options)

    def refuse_length(self, req: falcon.asgi.Request) -> None:
        """Raise PayloadTooLarge for a Content-Length above the limit."""
        if (req.content_length or 0) > self._max_bytes:
            raise self._too_large()

    async def read(self, req: falcon.asgi.Request, upload: Upload) -> dict[str, Any]:
        """Return the form's texts by field, and store its files. Raises InvalidRequest, PayloadTooLarge."""
        require_type(req, "multipart/form-data")
        try:
            sent = self._counted(req)
            form = await self._handler.deserialize_async(_FormStream(sent), req.content_type, req.content_length)
            with coming.room() as take:
                texts, skipped = await self._read_parts(form, upload, take)
                ignore(req, *skipped)
                if req.content_length is None:  # only the end of the body tells whether it is complete
                    async for _ in sent:
                        pass
                    require_whole(req, 0)
            return texts
        except falcon.HTTPError as error:
            raise FormInvalid(f"The form can't be read: {error.description or error.title}.") from error
        except UnicodeDecodeError as error:
            raise FormInvalid("The form can't be read: its headers or texts are not UTF-8.") from error

    async def _read_parts(self, form: MultipartForm, upload: Upload, take: Take) -> tuple[dict[str, Any], set[str]]:
        texts: dict[str, Any] = {}
        skipped: set[str] = set()
        seen: set[str] = set()
        count = 0
        async for part in form:
            count += 1
            if count > self._max_parts:
                raise FormInvalid(f"The form has more than {self._max_parts:,} parts; send fewer.")
            name = part.name
            if not name:
                raise FormInvalid("A part of the form has no name.")
            if name in seen:
                raise FormInvalid(f"The form has the field {name[:60]!a} twice.", code="field_doubled", field=name)
            is_repeated = name in self._shape.repeated
            if (name in self._files or name in self._texts) and not is_repeated:
                seen.add(name)
            if name in self._files:
                place = sum(one.startswith(f"{name}.") for one in upload.hashes)
                stored = f"{name}.{place}" if is_repeated else self._files[name]
                sent_as = part.filename or ""
                chunks, most = aiter(part.stream), self._max_file_bytes
                await upload.store(stored, chunks, max_bytes=most, name=sent_as, remedy=self._remedy)
            elif (entries := self._shape.list_of(name)) is not None:
                texts.setdefault(entries, []).append(await _text(part, name, take, max_bytes=self._max_field_bytes))
            elif name in self._texts:
                texts[name] = await _text(part, name, take, max_bytes=self._max_field_bytes)
            else:
                skipped.add(name[:MAX_SHOWN])
        return texts, skipped

    async def _counted(self, req: falcon.asgi.Request) -> AsyncIterator[bytes]:
        size = 0
        while chunk := await req.stream.read(CHUNK_BYTES):
            size += len(chunk)
            if size > self._max_bytes:
                raise self._too_large()
            yield chunk

    def _too_large(self) -> PayloadTooLarge:
        return PayloadTooLarge(
            f"The form is larger than {self._max_bytes:,} bytes; a file in it may have {self._max_file_bytes:,}."
            f" {self._remedy}",
            max_bytes=self._max_file_bytes,
        )


class _FormStream(BufferedReader):
    """A form whose part headers are rewritten in the spelling that Falcon's parser accepts."""

    async def read_until(self, delimiter: bytes, size: int = -1, consume_delimiter: bool = False) -> bytes:
        found = await super().read_until(delimiter, size, consume_delimiter)
        return _plain_headers(found) if delimiter == HEADERS_END else found


def _plain_headers(headers: bytes) -> bytes:
    """Return the headers of a part as `Name: value`, without identity transfer encodings.

    Apache's HttpClient for Java sends 8bit with each text; Falcon accepts only `binary`."""
    lines = []
    for line in headers.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        is_folded = line[:1].isspace()
        if name.strip().lower() != b"content-transfer-encoding" or value.strip().lower() not in IDENTITY_ENCODINGS:
            lines.append(line if is_folded or not colon else name.rstrip() + b": " + value.strip())
    return b"\r\n".join(lines)


async def _text(part: BodyPart, name: str, take: Take, *, max_bytes: int) -> str:
    sent = await part.stream.read(max_bytes + 1)
    if len(sent) > max_bytes:
        raise FormInvalid(f"The field {name} is longer than {max_bytes:,} bytes; send a shorter one.", field=name)
    text = sent.decode()
    take(sys.getsizeof(text))  # a character may take four bytes
    if "\0" in text:
        raise FormInvalid(f"The field {name} contains a NUL character.", code="text_has_nul", field=name)
    return text
