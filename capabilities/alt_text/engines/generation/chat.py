"""Chat: the prompt for a vision model that writes all texts of a picture as one JSON object."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

from capabilities.alt_text.engines import CaptionRequest, Mode
from capabilities.alt_text.engines.generation.judging import SecondLook
from capabilities.alt_text.engines.generation.prompts import json_instructions, most_tokens, picture_question
from capabilities.alt_text.engines.text.shaping import LIMITS

#: Longest side of a picture for a model, in pixels: llama sees at most 256 tokens of 32 x 32 pixels, servers some more.
LONGEST_SIDE = 1_024
JPEG_QUALITY = 90
#: How much longer than its limit a text may be written; a sentence too many is cut by `shape`.
ROOM = 1.25
#: Tokens of a mode's name and the signs around its text.
FRAME_TOKENS = 12


def messages_of(
    request: CaptionRequest, modes: Sequence[Mode], picture: str, look: SecondLook | None = None
) -> list[Mapping[str, Any]]:
    """Return the messages. The instructions stand before the picture, so that servers cache their prefix.

    All in the user's turn: some templates have no other, or lose a system message that is not a list."""
    faults, read = (look.faults, look.read) if look else ((), None)
    question = picture_question(request.language, request.hints, faults=faults, read=read)
    content = [
        {"type": "text", "text": json_instructions(modes)},
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "text", "text": question},
    ]
    return [{"role": "user", "content": content}]


def schema_of(modes: Sequence[Mode]) -> dict[str, Any]:
    texts = {mode: {"type": "string", "minLength": 1, "maxLength": longest_text(mode)} for mode in modes}
    return {"type": "object", "properties": texts, "required": list(modes), "additionalProperties": False}


def most_tokens_of(modes: Sequence[Mode], language: str) -> int:
    return sum(most_tokens(mode, language) + FRAME_TOKENS for mode in modes)


def longest_text(mode: Mode) -> int:
    return int(LIMITS[mode] * ROOM)


def picture_url(image: Image.Image) -> str:
    """Return a picture as a data URL of JPEG, which every server reads; some refuse WebP, and would fetch a link."""
    small = image.convert("RGB")
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.BICUBIC, reducing_gap=2.0)
    file = io.BytesIO()
    small.save(file, "JPEG", quality=JPEG_QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
