"""Failures: the meaning of a request's exception, for the sender of the URL, and when to ask again."""

import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import aiohttp

from pipeline.downloads.connecting import AddressForbidden

#: The remedy for a URL of a private address.
REMEDY = "Use a URL that anybody on the Internet can open, or let the operator allow its network."
#: Longest time that is believed; a server that names a longer one is asked again after this.
LONGEST = timedelta(days=30)
#: A number with more digits is beyond LONGEST anyway, and `int` refuses thousands of them.
MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing came. `is_passing`: the same request may succeed a little later."""

    message: str
    is_passing: bool = False
    is_forbidden: bool = False


def failure_of(error: Exception, name: str) -> Failure:
    """Return the failure behind an exception; `name` is the URL as messages show it."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, AddressForbidden):
        return Failure(f"{name} leads to an address that is not a public one. {REMEDY}", is_forbidden=True)
    match error:
        case aiohttp.ClientConnectorCertificateError():
            why = getattr(error.certificate_error, "verify_message", "") or "it can't be verified"
            return Failure(f"{name} has a TLS certificate that is not accepted: {why}.")
        case aiohttp.ClientConnectorSSLError():
            return Failure(f"No TLS connection to {name}: the handshake failed. Is it an https server?")
        case aiohttp.ClientConnectorDNSError():
            return _of_name(error.os_error, name)
        case TimeoutError():
            return Failure(f"{name} did not answer in time.", is_passing=True)
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return Failure(f"{name} ended the connection before the answer was complete.", is_passing=True)
        case aiohttp.ClientResponseError():
            return Failure(f"{name} answers with what is not HTTP.")
        case OSError():
            return Failure(f"No connection to {name}: {_reason(cause)}.", is_passing=True)
    return Failure(f"{name} can't be fetched ({type(error).__name__}).")


def _of_name(cause: OSError, name: str) -> Failure:
    is_passing = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
    why = "its name can't be looked up at the moment" if is_passing else "there is no such name"
    return Failure(f"No connection to {name}: {why}.", is_passing=is_passing)


def _reason(cause: object) -> str:
    """Return the operating system's reason, but not its text, in which the address may stand."""
    match cause:
        case ConnectionRefusedError():
            return "it was refused"
        case ConnectionResetError():
            return "it was reset"
    return "it failed"


def read_retry_after(header: str, *, now: datetime | None = None) -> timedelta | None:
    """Return the time that a header asks for, by seconds or a date, from nothing up to LONGEST; None: it says none."""
    header = header.strip()
    if header.isascii() and header.isdecimal():
        seconds = header.lstrip("0") or "0"
        return LONGEST if len(seconds) > MAX_DIGITS else min(LONGEST, timedelta(seconds=int(seconds)))
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(LONGEST, max(timedelta(), until - (now or datetime.now(UTC))))
