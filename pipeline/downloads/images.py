"""Image errors: why the picture at a user's URL can't be fetched or read. Nothing is charged for it."""

from datetime import timedelta

from pipeline.errors import InvalidRequest

#: Formats that workers/media/images reads, for messages.
FORMATS = "JPEG, PNG, WebP, GIF, AVIF, TIFF, BMP or HEIC"


class ImageFailure(InvalidRequest):
    """The picture can't be described, for a reason that lies with its address or its file."""

    code = "image_failed"
    field = "image_url"


class ImageUrlInvalid(ImageFailure):
    """The URL can't be one of a picture on the web."""

    code = "image_url_invalid"


class ImageBlocked(ImageFailure):
    """The URL leads to an address that this service must not connect to."""

    code = "image_blocked"


class ImageUnreachable(ImageFailure):
    """The picture's server could not be asked, or did not give the picture.

    `is_passing`: the same request may succeed a little later. `answered`: the HTTP status that it was answered with."""

    code = "image_unreachable"

    def __init__(
        self,
        message: str,
        *,
        is_passing: bool = False,
        retry_after: timedelta | None = None,
        answered: int | None = None,
    ) -> None:
        super().__init__(message, retry_after=retry_after)
        self.is_passing = is_passing
        self.answered = answered


class ImageTooLarge(ImageFailure):
    """The picture has more bytes or pixels than are taken."""

    code = "image_too_large"


class ImageUndecodable(ImageFailure):
    """The file is not a picture, or is damaged."""

    code = "image_undecodable"
