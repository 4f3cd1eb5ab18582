"""Failures: a connection's errors, told to the user who sent the URL."""

import socket

import aiohttp

from pipeline.images import ImageBlocked, ImageFailure, ImageUnreachable
from pipeline.retry_after import read_retry_after
from workers.media.downloads.connecting import Forbidden

#: A status after which another try is made, as after those of 500 and above.
TOO_MANY_REQUESTS = 429
#: Statuses above 500 after which another try is useless.
NEVER_PASSING = frozenset((501, 505))
#: What can be done about a URL that leads inwards.
REMEDY = "Use a URL that anybody on the Internet can open, or let the operator allow its network."


def failure_of(error: Exception, name: str) -> ImageFailure:
    """Return what a failed exchange means; `name` is the URL as messages show it."""
    cause = getattr(error, "os_error", error)
    if isinstance(cause, Forbidden):
        return ImageBlocked(f"{name} leads to an address that is not a public one. {REMEDY}")
    match error:
        case aiohttp.ClientConnectorCertificateError():
            why = getattr(error.certificate_error, "verify_message", "") or "it can't be verified"
            return ImageUnreachable(f"{name} has a TLS certificate that is not accepted: {why}.")
        case aiohttp.ClientConnectorSSLError():
            return ImageUnreachable(f"No TLS connection to {name}: the handshake failed. Is it an https server?")
        case aiohttp.ClientConnectorDNSError():
            return _of_name(error.os_error, name)
        case TimeoutError():
            return ImageUnreachable(f"{name} did not answer in time.", is_passing=True)
        case aiohttp.ClientPayloadError() | aiohttp.ServerDisconnectedError():
            return ImageUnreachable(f"{name} ended the connection before the picture was complete.", is_passing=True)
        case aiohttp.ClientResponseError():
            return ImageUnreachable(f"{name} answers with what is not HTTP.")
        case OSError():
            return ImageUnreachable(f"No connection to {name}: {_reason(cause)}.", is_passing=True)
    return ImageUnreachable(f"{name} can't be fetched ({type(error).__name__}).")


def of_status(response: aiohttp.ClientResponse, name: str) -> ImageUnreachable:
    """Return what an answer that holds no picture means."""
    status = response.status
    is_passing = status == TOO_MANY_REQUESTS or (status >= 500 and status not in NEVER_PASSING)
    return ImageUnreachable(
        f"{name} answers with HTTP {status}, not with a picture.",
        is_passing=is_passing,
        retry_after=read_retry_after(response.headers.get("Retry-After", "")) if is_passing else None,
    )


def _of_name(cause: OSError, name: str) -> ImageUnreachable:
    is_passing = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
    why = "its name can't be looked up at the moment" if is_passing else "there is no such name"
    return ImageUnreachable(f"No connection to {name}: {why}.", is_passing=is_passing)


def _reason(cause: object) -> str:
    """Return an operating system's reason, without the address that it may name."""
    match cause:
        case ConnectionRefusedError():
            return "it was refused"
        case ConnectionResetError():
            return "it was reset"
    return "it failed"
