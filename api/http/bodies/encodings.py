"""Encodings: decode compressed request bodies (RFC 9110, section 8.4).

They are decoded piece by piece while they are read, so that a small body that expands ends at its route's limit."""

import zlib
from collections.abc import Mapping
from typing import Any

from api.http.incoming import Receive
from pipeline.errors import InvalidRequest, UnsupportedMediaType

#: Names of gzip, and the bits that tell zlib to expect its header.
GZIP = frozenset((b"gzip", b"x-gzip"))
GZIP_BITS = 31
#: Most bytes decoded at once.
PIECE_BYTES = 64 * 1024
#: Headers that describe the body as it was sent.
OF_THE_BODY = frozenset((b"content-encoding", b"content-length"))


class EncodingUnknown(UnsupportedMediaType):
    """The body has an unsupported compression."""

    code = "content_encoding_unknown"
    field = "Content-Encoding"
    headers = {"Accept-Encoding": "gzip"}  # noqa: RUF012  it is never changed

    def __init__(self, encoding: bytes) -> None:
        shown = encoding[:60].decode("latin-1")
        super().__init__(f"Content-Encoding {shown!a} is not supported; send the body as it is, or as gzip.")


def decoded(scope: dict[str, Any], receive: Receive) -> tuple[dict[str, Any], Receive]:
    """Return the scope and `receive` of the decoded body; unchanged if it is not encoded."""
    encoding = b", ".join(value for name, value in scope["headers"] if name == b"content-encoding").strip().lower()
    if encoding in (b"", b"identity"):
        return scope, receive
    # The decoded length is unknown; Falcon would stop at the encoded one.
    plain = {**scope, "headers": [header for header in scope["headers"] if header[0] not in OF_THE_BODY]}
    if encoding in GZIP:
        return plain, Decoder(receive)

    async def refuse() -> Mapping[str, Any]:
        raise EncodingUnknown(encoding)

    return plain, refuse


class Decoder:
    """A `receive` that decodes what another receives as gzip."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._inflate = zlib.decompressobj(GZIP_BITS)
        #: Bytes that were received and not yet decoded.
        self._rest = b""
        self._is_more = True

    async def __call__(self) -> Mapping[str, Any]:
        """Return the next piece. Raises InvalidRequest if it is not exactly one gzip stream."""
        while not self._rest and self._is_more:
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            self._rest, self._is_more = message.get("body", b""), message.get("more_body", False)
        try:
            piece = self._inflate.decompress(self._rest, PIECE_BYTES)
        except zlib.error as error:
            raise _invalid(str(error)) from error
        if self._inflate.unused_data:
            raise _invalid("there is something behind its end")
        # zlib may hold output after the last input: ask until there is none.
        is_full = len(piece) == PIECE_BYTES
        self._rest = self._inflate.unconsumed_tail
        has_more = bool(self._rest) or self._is_more or (is_full and not self._inflate.eof)
        if not has_more and not self._inflate.eof:
            raise _invalid("it is cut off")
        return {"type": "http.request", "body": piece, "more_body": has_more}


def _invalid(why: str) -> InvalidRequest:
    return InvalidRequest(f"The body can't be decoded as gzip: {why}.", code="content_encoding_invalid")
