"""Identifying: the language of a text, among those of its script, by py3langid."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

#: Scripts, and the languages that are written in them, the likeliest first.
SCRIPTS: Mapping[str, Sequence[str]] = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))

#: How likely a language must be at least that was not asked for, and how many times likelier than that one, to be taken
#: for a text's. “Hygge” and “Sauerkraut 101” stay English; “Pan de masa madre” can't be it, though Galician as well.
EVIDENT = ((0.5, 2.0), (0.25, 150.0))

#: The library's codes that this program calls otherwise: Norwegian is written in two ways.
_CALLED = {"nn": "no", "nb": "no"}

_lock = Lock()


def identified(text: str, among: Sequence[str], wanted: str) -> str:
    """Return the language of a text: the one that was asked for, unless it evidently is in another of some."""
    likely = _likely(text, among)
    if not likely:
        return wanted
    best = max(likely, key=lambda code: likely[code])
    factor = likely[best] / max(likely.get(wanted, 0.0), 1e-9)
    is_evident = any(likely[best] >= least and factor >= times for least, times in EVIDENT)
    return best if is_evident else wanted


def _likely(text: str, among: Sequence[str]) -> dict[str, float]:
    """Return how likely each of some languages is; they sum up to 1."""
    likely: dict[str, float] = {}
    for code, probability in _identifier().rank(text):
        code = _CALLED.get(code, code)
        if code in among:
            likely[code] = likely.get(code, 0.0) + probability
    total = sum(likely.values())
    return {code: probability / total for code, probability in likely.items()} if total else {}


def _identifier() -> Any:
    # Two threads would load 57 MB each.
    with _lock:
        return _loaded()


@cache
def _loaded() -> Any:
    # Here, since it takes half a second.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    known = {code for codes in SCRIPTS.values() for code in codes}
    whole.set_languages(code for code in whole.nb_classes if _CALLED.get(code, code) in known)
    # The library keeps the other languages' numbers as well, 17 MB: a new one is made of what is left.
    return LanguageIdentifier(
        whole.nb_ptc,
        whole.nb_pc,
        whole.nb_classes,
        whole.tk_nextmove,
        whole.tk_output,
        norm_probs=True,
        tk_row=whole.tk_row,
    )
