"""Tiny catalogue: has a system's processes read another catalogue, when they load their kinds.

`PRESSROOM_KINDS=tiny_catalogue:MadeUp`, and the file in TINY_CATALOGUE."""

import os
from pathlib import Path

from made_up import MadeUp

from workers.models import catalogue

__all__ = ["MadeUp", "entry_of"]

if "TINY_CATALOGUE" in os.environ:
    catalogue.FILE = Path(os.environ["TINY_CATALOGUE"])


def entry_of(folder: Path, name: str, repo: str, **fields: str) -> str:
    """Return the catalogue's entry of a GGUF pair in a folder."""
    import hashlib

    files = [
        f'{{ name = "{path.name}", size_bytes = {path.stat().st_size}, '
        f'sha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}" }}'
        for path in sorted(folder.glob("*.gguf"))
    ]
    lines = {
        "name": f'"{name}"', "family": '"captioning"', "engine": '"llama"', "also": '["metadata"]',
        "gives": '"texts"', "licence": '"MIT"', "origin": '"a test"', "one_of": '"captioner"', "automatic": "true",
        "needs": "{ instructions = true }", "hub": f'{{ repo = "{repo}" }}', "files": f"[{', '.join(files)}]",
    }  # fmt: skip
    return "[[model]]\n" + "".join(f"{key} = {value}\n" for key, value in (lines | fields).items())
