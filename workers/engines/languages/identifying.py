"""Identifying: the language of a text, among those of its script, by py3langid."""

import json
import mmap
import tomllib
from array import array
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from workers.engines.prepared import Prepared

#: Scripts, and the languages that are written in them, the likeliest first.
SCRIPTS: Mapping[str, Sequence[str]] = tomllib.loads(Path(__file__).with_name("scripts.toml").read_text("utf-8"))

#: How likely a language must be at least that was not asked for, and how many times likelier than that one, to be taken
#: for a text's. “Hygge” and “Sauerkraut 101” stay English; “Pan de masa madre” can't be it, though Galician as well.
EVIDENT = ((0.5, 2.0), (0.25, 150.0))

#: The library's codes that this program calls otherwise: Norwegian is written in two ways.
_CALLED = {"nn": "no", "nb": "no"}

#: Our languages, by our codes.
KNOWN = sorted({code for codes in SCRIPTS.values() for code in codes})

#: Prepared files: how likely each sequence of letters is in each language, the next state for each letter, the rest.
BY_LANGUAGE, MOVES, SMALL = "by-language", "moves", "small.json"


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
    for code, probability in _identifier.get().rank(text):
        code = _CALLED.get(code, code)
        if code in among:
            likely[code] = likely.get(code, 0.0) + probability
    total = sum(likely.values())
    return {code: probability / total for code, probability in likely.items()} if total else {}


def _load() -> Any:
    """Return py3langid's identifier for our languages: 58 MB, which the package has compressed."""
    # Here, since it takes half a second.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE)
    whole.set_languages(code for code in whole.nb_classes if _CALLED.get(code, code) in KNOWN)
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


def _write(identifier: Any, folder: Path) -> None:
    import numpy as np

    np.asarray(identifier.nb_ptc, np.float16).tofile(folder / BY_LANGUAGE)
    np.asarray(identifier.tk_nextmove, np.uint32).tofile(folder / MOVES)
    small = identifier.nb_classes, identifier.nb_pc.tolist(), [*identifier.tk_row], [*identifier.tk_output]
    (folder / SMALL).write_text(json.dumps(small), "utf-8")


class _Mapped:
    """The identifier with its large numbers in files, of which memory holds nothing between two texts."""

    def __init__(self, folder: Path) -> None:
        import numpy as np
        from py3langid.langid import LanguageIdentifier

        names, likelihoods, rows, outputs = json.loads((folder / SMALL).read_text("utf-8"))
        self._files = _mapped(folder / BY_LANGUAGE), _mapped(folder / MOVES)
        by_language, moves = self._files
        self._identifier = LanguageIdentifier(
            np.frombuffer(by_language, np.float16).reshape(-1, len(names)),
            np.array(likelihoods, np.float32),
            names,
            memoryview(moves).cast("I"),
            array("i", outputs),
            norm_probs=True,
            tk_row=array("I", rows),
        )

    def rank(self, text: str) -> list[tuple[str, float]]:
        """Return languages, the likeliest first, and how likely each is."""
        ranked: list[tuple[str, float]] = self._identifier.rank(text)
        for file in self._files:
            file.madvise(mmap.MADV_DONTNEED)  # what is read again comes from the system's cache
        return ranked


def _mapped(file: Path) -> mmap.mmap:
    with file.open("rb") as opened:
        return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


_identifier = Prepared[Any](
    "languages",
    version("py3langid"),
    Path(__file__).read_text("utf-8"),
    *KNOWN,
    load=_load,
    write=_write,
    open=_Mapped,
)
