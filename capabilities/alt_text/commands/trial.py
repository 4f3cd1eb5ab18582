"""Trial: what an engine makes of the pictures in a folder, as rows and as an HTML page to look at."""

import base64
import html
import io
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from PIL import Image

from capabilities.alt_text.engines import Captioner, CaptionRequest, Mode
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import PressroomError
from workers.media.images.reading import read_picture

#: Names of the files that are looked at; what they hold is told by their first bytes.
SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".tif", ".tiff", ".bmp", ".heic"))
#: Sides of a picture for an engine, and of one on the page, in pixels.
SHOWN_SIDE, THUMBNAIL_SIDE = 2_048, 320
#: Larger files, in bytes, are not read: the service does not take them either.
MAX_FILE_BYTES = 20_000_000
#: The page loads nothing and runs nothing: its pictures are in it.
POLICY = "default-src 'none'; img-src data:"
HEAD = ("picture", "engine", "text", "seconds", "confidence")


#: The cells of a table, as HEAD names them, and the picture as a PNG, empty if it can't be read.
Trial = tuple[list[str], bytes]


def pictures_in(folder: Path) -> list[Path]:
    """Return the picture files of a folder, by name; those in folders of it are left out."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in SUFFIXES)


def trials(
    paths: Iterable[Path], engines: Sequence[Captioner], *, mode: Mode, language: str, limits: CaptioningSettings
) -> Iterator[Trial]:
    """Yield what each engine makes of each picture, one at a time."""
    for path in paths:
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise PressroomError(f"The file has more than {MAX_FILE_BYTES:,} bytes.")
            picture = read_picture(
                path.read_bytes(), max_pixels=limits.max_pixels, max_side=limits.max_side, shrink_to=SHOWN_SIDE
            )
        except PressroomError as error:
            yield [path.name, "", error.message, "0.0", ""], b""
            continue
        thumbnail = _thumbnail(picture.image)
        for engine in engines:
            began = time.perf_counter()
            (said,) = engine.caption([CaptionRequest(picture, (mode,), language)])
            seconds = f"{time.perf_counter() - began:.1f}"
            if isinstance(said, PressroomError):
                yield [path.name, engine.name, said.message, seconds, ""], thumbnail
                continue
            notes = [f" ({note})" for note in ("draft", "decorative") if getattr(said[mode], note)]
            text = "".join([said[mode].text, *notes]).strip()
            yield [path.name, engine.name, text, seconds, f"{said[mode].confidence:.2f}"], thumbnail


def page_of(done: Iterable[Trial], title: str) -> str:
    """Return an HTML page with the pictures and their texts side by side; all text in it is escaped."""
    rows = "\n".join(_row(trial) for trial in done)
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{html.escape(title)}</title></head>\n<body><h1>{html.escape(title)}</h1>\n"
        f'<table border="1" cellpadding="8"><tr>{head}</tr>\n{rows}\n</table></body></html>\n'
    )


def _row(trial: Trial) -> str:
    name, *cells = (html.escape(cell) for cell in trial[0])
    data = base64.b64encode(trial[1]).decode()
    image = f'<img alt="" src="data:image/png;base64,{data}"><br>' if data else ""
    return f"<tr><td>{image}{name}</td>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _thumbnail(image: Image.Image) -> bytes:
    small = image.copy()
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    file = io.BytesIO()
    small.save(file, "PNG")
    return file.getvalue()
