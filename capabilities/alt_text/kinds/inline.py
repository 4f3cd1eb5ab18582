"""Inline pictures: those that a request brings itself, as a `data:` URL or as a file of its form."""

import base64
import binascii
import re

from pipeline.downloads.images import ImageTooLarge, ImageUrlInvalid
from pipeline.kind import UPLOADED

#: Largest picture in a `data:` URL.
MAX_DATA_BYTES = 10_000_000
#: RFC 2397, of which base64 alone is taken.
DATA_URL = re.compile(r"data:(?:image/[\w.+-]{1,40})?(?:;[\w.=+-]{1,60}){0,3};base64,", re.IGNORECASE)


def is_inline(url: str) -> bool:
    return url.startswith(UPLOADED) or url[:5].lower() == "data:"


def check_inline(url: str) -> None:
    """Refuse a `data:` URL that is too large or of another form. Raises ImageUrlInvalid, ImageTooLarge."""
    if url.startswith(UPLOADED):
        return
    found = DATA_URL.match(url)
    if found is None or found.end() == len(url):
        raise ImageUrlInvalid("image_url is no picture: send data:image/png;base64,…", field="image_url")
    if (size := (len(url) - found.end()) * 3 // 4) > MAX_DATA_BYTES + 2:
        raise ImageTooLarge(
            f"The picture in image_url has about {size:,} bytes; a data URL may hold {MAX_DATA_BYTES:,}. "
            "Send it as the file `image` of a form, or its URL."
        )


def read_data_url(url: str) -> bytes:
    """Return the bytes of a `data:` URL. Raises ImageUrlInvalid, ImageTooLarge."""
    check_inline(url)
    try:
        return base64.b64decode(url.partition(",")[2], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageUrlInvalid(f"The data URL in image_url is no base64: {error}.", field="image_url") from error
