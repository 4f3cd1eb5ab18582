"""Uploads: large files in pieces, by tus 1.0; a piece is sent again from where its connection broke."""

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pressroom.errors import Conflict
from pressroom.exchange import Ask, Flow
from pressroom.files import Upload, open_upload, repeatable
from pressroom.service import Service

#: Bytes of a piece.
PIECE_BYTES = 8 * 2**20


def upload(
    service: Service,
    file: Upload,
    *,
    name: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Flow[str]:
    """Upload a file of up to 2 GiB; return the id that a request sends as `upload`.

    `progress` is called with the bytes that have arrived, and all of them."""
    with repeatable(file) as known, open_upload(known) as opened:
        size = opened.seek(0, os.SEEK_END)
        named = name or (Path(file).name if isinstance(file, str | os.PathLike) else "")
        headers = {"Upload-Length": str(size), "Tus-Resumable": "1.0.0"}
        if named:
            headers["Upload-Metadata"] = f"filename {base64.b64encode(named.encode()).decode()}"
        begun = yield from service.ask(Ask("POST", "/uploads", headers=headers))
        upload_id = str(begun.json["id"])
        arrived = 0
        while arrived < size:
            arrived = yield from _send_piece(service, upload_id, opened, arrived)
            if progress is not None:
                progress(arrived, size)
        return upload_id


def _send_piece(service: Service, upload_id: str, file: IO[bytes], offset: int) -> Flow[int]:
    """Send the next piece; return how many bytes have arrived. Raises PressroomError."""
    file.seek(offset)
    headers = {
        "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
        "Tus-Resumable": "1.0.0",
    }
    ask = Ask("PATCH", f"/uploads/{upload_id}", headers=headers, content=file.read(PIECE_BYTES))
    try:
        answer = yield from service.ask(ask)
    except Conflict as conflict:
        # A part of it arrived before the connection broke, and sending all of it again was refused.
        arrived = int(conflict.details.get("upload_offset") or 0)
        if arrived <= offset:
            raise
        return arrived
    return int(answer.headers["Upload-Offset"])
