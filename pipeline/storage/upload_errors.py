"""Errors of resumable uploads."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import ClassVar

from pipeline.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    PressroomError,
    RateLimitExceeded,
    ServiceUnavailable,
)
from pipeline.storage.resumable import ResumableUpload


class UploadNotFound(NotFound):
    """No upload of this account has that id."""

    code = "upload_not_found"
    message = (
        "There is no such upload. One without progress is deleted after a while; begin it again with POST /uploads."
    )


class UploadLengthInvalid(InvalidRequest):
    """A header is not a number of bytes."""

    code = "upload_length_invalid"


class TusVersionUnknown(PressroomError):
    """The client speaks another version of tus."""

    title = "Precondition Failed"
    status = HTTPStatus.PRECONDITION_FAILED
    code = "tus_version_unknown"
    field = "Tus-Resumable"
    headers: ClassVar[Mapping[str, str]] = {"Tus-Version": "1.0.0"}


class UploadTooLarge(PayloadTooLarge):
    """The file is larger than an upload may be, or than it was announced, or came in too many pieces."""

    code = "upload_too_large"


class UploadsTooMany(RateLimitExceeded):
    """The account's unfinished uploads take too much room."""

    code = "uploads_too_many"
    retry_after = timedelta(minutes=1)


class DiskTooFull(ServiceUnavailable):
    """The store's disk has no room for the file."""

    code = "disk_full"
    message = "The disk of this service has no room for the file. Tell its operator, or try again later."
    retry_after = timedelta(minutes=5)


class UploadOffsetWrong(Conflict):
    """The bytes are not the next ones of the upload."""

    code = "upload_offset_wrong"

    def __init__(self, sent: int, received: int) -> None:
        super().__init__(
            f"Upload-Offset is {sent:,}, but {received:,} bytes have arrived. Go on there.",
            field="Upload-Offset",
            upload_offset=received,
        )


class UploadUsed(Conflict):
    """A job uses the upload."""

    code = "upload_used"

    def __init__(self, upload: ResumableUpload) -> None:
        super().__init__(
            f"The job {upload.id} uses this upload: see GET /jobs/{upload.id}. For another request, upload it again.",
            job_id=str(upload.id),
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
