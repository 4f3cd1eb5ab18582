"""Receiving: a request is read and checked in the order of docs/api.md, Errors: size, key, body, fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.bodies import read_json, refuse_length
from api.http.bodies.fields import ignore_unknown
from api.http.bodies.forms import SMALLER, FormReader, FormShape, Upload
from api.services.auth import header_key, query_key
from api.services.services import Services
from api.work.common_fields import HEADERS
from pipeline.accounts.keys import Caller
from pipeline.kind import AnyKind

Sent = bytes | dict[str, Any]
#: Checks the fields of a request: a JSON body as sent, or the texts of a form. Raises FieldsInvalid.
Check = Callable[[Sent, Upload], BaseModel]


@dataclass(frozen=True, slots=True)
class Received:
    """A request in order: who sends it, its checked fields, and those fields that belong to no kind."""

    caller: Caller
    request: BaseModel
    common: Mapping[str, Any]


class Receiver:
    """Reads the requests of one route, JSON or forms."""

    def __init__(self, services: Services, kind: AnyKind, shape: FormShape, check: Check) -> None:
        api = services.settings.api
        files = [*kind.files, *kind.uploads, *([kind.many_files.file] if kind.many_files else ())]
        self._services = services
        self._needs_form = bool(kind.files)
        self._takes_form = bool(files)
        self._check = check
        self._max_bytes = kind.limits.body_bytes or (api.max_json_bytes + len(files) * api.max_upload_bytes)
        self._forms = FormReader(
            shape,
            max_file_bytes=api.max_upload_bytes,
            max_field_bytes=api.max_json_bytes,
            max_bytes=self._max_bytes,
            remedy=kind.larger_files or SMALLER,
        )

    async def receive(self, req: falcon.asgi.Request, upload: Upload) -> Received:
        """Return a request, its files stored in `upload`."""
        is_form = self._needs_form or (
            self._takes_form and (req.content_type or "").partition(";")[0].strip().lower() == "multipart/form-data"
        )
        if is_form:
            self._forms.refuse_length(req)
        else:
            refuse_length(req, self._max_bytes)
        key = header_key(req)
        caller = await self._services.authenticate(req, key) if key else None
        sent: Sent
        if is_form:
            sent = read = await self._forms.read(req, upload)
        else:
            sent, read = await read_json(req, max_bytes=self._max_bytes)
        common = _common_fields(read)
        del read  # a megabyte of JSON may become twenty, and from here on this waits for others
        if caller is None:
            body_key = common.get("api_key")
            caller = await self._services.authenticate(req, query_key(req) if body_key is None else body_key)
        request = self._check(sent, upload)
        if not is_form:
            ignore_unknown(req, type(request))
        return Received(caller, request, common)


def _common_fields(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that belong to no kind, without lists or objects where none can be."""

    def shortened(value: Any) -> Any:
        if isinstance(value, list) and not all(isinstance(entry, str) for entry in value):
            return [None]
        return {} if isinstance(value, dict) else value

    return {name: shortened(read[name]) for name in ("api_key", *HEADERS) if name in read}
