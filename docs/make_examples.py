"""Write the examples of docs/engines.md: `python docs/make_examples.py` runs the light engines on sample posts."""

import importlib.util
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from capabilities.blog.engines.metadata.plain import read_post  # noqa: E402
from capabilities.blog.engines.pictures import Brief, Painted  # noqa: E402
from pipeline.settings import Settings  # noqa: E402
from workers.engines.registry import load_engines  # noqa: E402

PAGE, PICTURES = ROOT / "docs" / "engines.md", ROOT / "docs" / "pictures"
START, END = "<!-- made by docs/make_examples.py -->", "<!-- end -->"
STYLES = ("illustration", "abstract", "minimalist")
LANGUAGES = ("en", "es", "fr", "de")

#: A third of a cover's size, as three stand side by side.
WIDTH, HEIGHT, GAP = 400, 210, 8


def main() -> None:
    """Write the pictures, and the examples between the marks of the page."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("cover-*.jpg"):
        old.unlink()
    page = PAGE.read_text("utf-8")
    head, tail = page[: page.index(START)], page[page.index(END) :]
    PAGE.write_text(head + START + "\n\n" + "\n\n".join(_examples()) + "\n\n" + tail, "utf-8")


def _examples() -> Iterator[str]:
    settings = Settings.model_validate({"metadata": {"engines": "extractive"}, "pictures": {"engines": "drawn"}})
    (writer,), (painter,) = load_engines(settings, "metadata"), load_engines(settings, "pictures")
    writer.setup()
    painter.setup()
    for index, sample in enumerate(chosen_posts()):
        yield _example(index, sample, writer, painter)


def chosen_posts() -> list[Any]:
    """Return the sample posts that the page shows: the first of each of four languages."""
    posts = _samples().POSTS
    return [next(post for post in posts if post.language == language) for language in LANGUAGES]


def _example(index: int, sample: Any, writer: Any, painter: Any) -> str:
    made = writer.write(read_post(sample.title, sample.content, sample.language))
    style = STYLES[index % len(STYLES)]
    brief = Brief(sample.title, made.excerpt, made.category, made.tags, style, sample.language)
    covers = [cover for cover in painter.paint(brief, count=3) if isinstance(cover, Painted)]
    name = f"cover-{index + 1:02}-{style}.jpg"
    _strip(covers).save(PICTURES / name, "JPEG", quality=82, optimize=True, progressive=True)
    tags = " · ".join(f"`{tag}`" for tag in made.tags)
    warnings = "".join(f"\n\n*{warning}*" for warning in dict.fromkeys(w for cover in covers for w in cover.warnings))
    return (
        f"### {sample.title}\n\n`{sample.language}`, style `{style}`\n\n"
        f"![{covers[0].description}](pictures/{name})\n\n"
        f"> {made.excerpt}\n\n**{made.category}** · {tags}{warnings}"
    )


def _strip(covers: list[Painted]) -> Image.Image:
    strip = Image.new("RGB", (len(covers) * (WIDTH + GAP) - GAP, HEIGHT), "white")
    for index, cover in enumerate(covers):
        image = Image.open(io.BytesIO(cover.data)).resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        strip.paste(image, (index * (WIDTH + GAP), 0))
    return strip


def _samples() -> ModuleType:
    """Return the tests' sample posts."""
    spec = importlib.util.spec_from_file_location("sample_posts", ROOT / "tests" / "examples" / "posts.py")
    if spec is None or spec.loader is None:
        raise SystemExit("tests/examples/posts.py is missing.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
