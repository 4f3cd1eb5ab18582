"""Motifs: the things that stand for what a post is about, and props, which furnish a scene; both by name."""

from collections.abc import Mapping
from pathlib import Path

from workers.engines.pictures.drawn.shapes import Drawing, read_drawings

_HERE = Path(__file__).parent

MOTIFS: Mapping[str, Drawing] = read_drawings(_HERE / "motifs.toml")
PROPS: Mapping[str, Drawing] = read_drawings(_HERE / "props.toml")
