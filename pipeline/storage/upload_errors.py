"""Errors of resumable uploads."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import ClassVar
from uuid import UUID

from pipeline.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    PressroomError,
    RateLimitExceeded,
    ServiceUnavailable,
)
from pipeline.storage.resumable import MOST_PARTS, ResumableUpload


class UploadNotFound(NotFound):
    """No upload of this account has that id."""

    code = "upload_not_found"
    message = (
        "There is no such upload. One without progress is deleted after a while; begin it again with POST /uploads."
    )


class UploadLengthInvalid(InvalidRequest):
    """A header is no number of bytes."""

    code = "upload_length_invalid"
    field = "Upload-Length"


class TusVersionUnknown(PressroomError):
    """The client speaks another version of tus."""

    title = "Precondition Failed"
    status = HTTPStatus.PRECONDITION_FAILED
    code = "tus_version_unknown"
    field = "Tus-Resumable"
    headers: ClassVar[Mapping[str, str]] = {"Tus-Version": "1.0.0"}


class UploadTooLarge(PayloadTooLarge):
    """The file is larger than an upload may be, or than it was announced."""

    code = "upload_too_large"

    @classmethod
    def past_end(cls, upload: ResumableUpload) -> "UploadTooLarge":
        """Return the error for bytes behind the announced end."""
        return cls(
            f"The body goes past the end of the upload, which was announced with {upload.length:,} bytes and has"
            f" {upload.received:,}. Send at most the rest, or begin again with the right Upload-Length."
        )


class UploadsTooMany(RateLimitExceeded):
    """The account's unfinished uploads take too much room."""

    code = "uploads_too_many"
    retry_after = timedelta(minutes=1)

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The account's uploads that no job has used may have {most:,} bytes together, this one included. Use or"
            " delete one (DELETE /uploads/ID), or wait until one expires.",
            max_bytes=most,
        )


class DiskTooFull(ServiceUnavailable):
    """The store's disk has no room for the file."""

    code = "disk_full"
    message = "The disk of this service has no room for the file. Tell its operator, or try again later."
    retry_after = timedelta(minutes=5)


class UploadOffsetWrong(Conflict):
    """The bytes are not the next ones of the upload."""

    code = "upload_offset_wrong"
    field = "Upload-Offset"

    def __init__(self, sent: int, received: int) -> None:
        super().__init__(
            f"Upload-Offset is {sent:,}, but {received:,} bytes have arrived. Ask with HEAD, and go on there.",
            field="Upload-Offset",
            upload_offset=received,
        )


class UploadElsewhere(Conflict):
    """Another request sends the same upload."""

    code = "upload_elsewhere"
    message = "Another request has sent these bytes meanwhile, or deleted the upload. Ask with HEAD, and go on there."


class UploadPiecesTooMany(InvalidRequest):
    """The upload came in too many small pieces."""

    code = "upload_pieces_too_many"
    message = f"The upload came in {MOST_PARTS:,} pieces, which is the most. Begin again, and send larger pieces."


class UploadUsed(Conflict):
    """A job uses the upload."""

    code = "upload_used"

    def __init__(self, upload_id: UUID) -> None:
        super().__init__(
            f"The job {upload_id} uses this upload: see GET /jobs/{upload_id}. For another request, upload it again.",
            job_id=str(upload_id),
        )


class UploadIncomplete(Conflict):
    """Not all bytes of the upload have arrived."""

    code = "upload_incomplete"
    field = "upload"

    def __init__(self, upload: ResumableUpload) -> None:
        super().__init__(
            f"The upload has {upload.received:,} of {upload.length:,} bytes. Send the rest with PATCH"
            f" /uploads/{upload.id}, then send this request again.",
            upload_offset=upload.received,
        )
