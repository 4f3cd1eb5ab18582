"""Alba: a made-up model of two files, one of which the catalogue knows the hash of."""

import hashlib
import random

from workers.models.catalogue import CatalogueModel, File, Hub

#: Large enough to break in the middle.
WEIGHTS = random.Random(0).randbytes(300_000)
CONFIG = b'{"sample_rate": 22050}'


def make_alba() -> CatalogueModel:
    """Return the model."""
    weights = File("alba.onnx", hashlib.sha256(WEIGHTS).hexdigest(), len(WEIGHTS), hub="en/alba.onnx")
    return CatalogueModel(
        name="piper-alba",
        family="synthesis",
        engine="piper",
        gives="a voice",
        languages=("en-GB",),
        licence="CC-BY-4.0",
        origin="somebody",
        size_bytes=len(WEIGHTS),
        files=(weights, File("alba.json", hub="en/alba.json")),
        hub=Hub("rhasspy/voices"),
        automatic=True,
    )
