"""Prompts: what a diffusion model is asked for, in each style.

The encoder of most models reads 77 tokens, so the style stands first and the post's words are cut short.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from workers.engines.pictures import Brief

#: Characters of the title and of the summary that go into a prompt.
TITLE, SUMMARY = 120, 100

_PROMPTS: Mapping[str, Mapping[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
OPENINGS, NEGATIVE = _PROMPTS["openings"], _PROMPTS["negative"]


def prompt_of(brief: Brief) -> str:
    """Return the prompt for a post's pictures: one line, the post's words in quotes."""
    prompt = f'{OPENINGS[brief.style]} "{_plain(brief.title, TITLE)}"'
    if brief.category:
        prompt += f", {_plain(brief.category, 40)}"
    if brief.summary:
        prompt += f". {_plain(brief.summary, SUMMARY)}"
    return prompt


def _plain(text: str, length: int) -> str:
    """Return a text as words: what weighs words, names adapters, or ends a quote in prompts is left out."""
    words = re.sub(r"[\x00-\x1f\x7f()\[\]{}<>|\\\"“”„«»:*_^~`#]+", " ", text)
    words = " ".join(words.split())
    return words if len(words) <= length else words[:length].rsplit(" ", 1)[0]
