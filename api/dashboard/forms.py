"""Forms: what a page's form has sent, once its CSRF token is right."""

import re
from abc import abstractmethod
from typing import ClassVar
from urllib.parse import parse_qs

import falcon.asgi

from api.dashboard.rendering import redirect
from api.http.bodies.bodies import read_body, require_type
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import CSRF_HEADER, check_csrf_token
from pipeline.accounts.sessions import Session
from pipeline.errors import InvalidRequest, PressroomError
from pipeline.log import get_logger

log = get_logger(__name__)

#: Fields of a form; a page lists fewer things than that.
MAX_FIELDS = 2_000
FIELD = "csrf_token"


class Form(dict[str, list[str]]):
    """The fields of a form, each with all its values."""

    def text(self, name: str, default: str = "") -> str:
        return self[name][-1].strip() if name in self else default

    def texts(self, name: str) -> list[str]:
        """Return all values of a field, as of ticked boxes."""
        return self.get(name, [])

    def is_ticked(self, name: str) -> bool:
        return name in self


async def read_form(req: falcon.asgi.Request, session: Session) -> Form:
    """Return the fields of a form. Raises CsrfTokenInvalid, InvalidRequest, PayloadTooLarge, UnsupportedMediaType.

    The session's token is in the field `csrf_token`, or in the header X-CSRF-Token of a script."""
    return await read_form_with(req, session.csrf_token)


async def read_form_with(req: falcon.asgi.Request, csrf_token: str) -> Form:
    """Return the fields of a form that has to have this CSRF token; see `read_form`."""
    services: Services = req.context.renderer.services
    require_type(req, "application/x-www-form-urlencoded")
    form = _parse(await read_body(req, max_bytes=services.settings.api.max_json_bytes))
    check_csrf_token(csrf_token, req.get_header(CSRF_HEADER) or form.text(FIELD))
    form.pop(FIELD, None)
    return form


def ungrouped(number: str) -> str:
    """Return a number without the commas or underscores between groups of three digits; 1,5 stays, and is none."""
    return re.sub(r"(?<=[0-9])[,_](?=[0-9]{3}(?![0-9]))", "", number)


def read_hex(text: str) -> bytes:
    """Return the bytes of a form's hexadecimal id; none where it is no such id."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _parse(body: bytes) -> Form:
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError as error:  # UnicodeDecodeError is one
        raise InvalidRequest(f"The form can't be read: {error}.", code="form_invalid") from error
    if any("\0" in text for name, values in fields.items() for text in (name, *values)):
        raise InvalidRequest("The form contains a NUL character. Remove it.", code="text_has_nul")
    return Form(fields)


class OperatorForm(Resource):
    """POST of a form for operators."""

    #: The page that says what was done, or why not.
    page: ClassVar[str]
    #: The event in the log, and the fields of the form that go with it.
    event: ClassVar[str]
    logged: ClassVar[tuple[str, ...]]

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        try:
            text = await self.change(form)
        except PressroomError as error:
            redirect(req, resp, self.back(form), error.message, "bad")
            return
        sent = {name: form.text(name) for name in self.logged if form.text(name)}
        log.info(self.event, **sent, by=str(session.account_id))
        redirect(req, resp, self.back(form), text)

    def back(self, form: Form) -> str:
        """Return the path of the page to go on with."""
        return self.page

    @abstractmethod
    async def change(self, form: Form) -> str:
        """Carry the form out; return a sentence about it. Raises PressroomError."""
