"""Prompts: what a diffusion model is asked for, in each style.

The encoder of most models reads 77 tokens, so the style stands first and the post's words are cut short.
"""

import re

from workers.engines.pictures import Brief

#: Characters of the title and of the summary that go into a prompt.
TITLE, SUMMARY = 120, 100

OPENINGS = {
    "realistic": "A realistic, detailed scene in natural light that illustrates",
    "illustration": "A flat editorial illustration with clean shapes and a few harmonious colours, about",
    "abstract": "An abstract composition of shapes, texture and colour that evokes",
    "minimalist": "A minimalist picture with one simple subject and much empty space, about",
    "photographic": "A professional photograph, sharp focus, soft natural light, shallow depth of field, about",
}

#: Letters in generated pictures are gibberish, so they are unwanted in all styles.
_UNWANTED = "text, letters, watermark, signature, logo, low quality, blurry, deformed"

NEGATIVE = {
    "realistic": f"{_UNWANTED}, cartoon, painting",
    "illustration": f"{_UNWANTED}, photograph",
    "abstract": f"{_UNWANTED}, people, faces",
    "minimalist": f"{_UNWANTED}, clutter, crowd, busy background",
    "photographic": f"{_UNWANTED}, cartoon, painting, illustration",
}


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
