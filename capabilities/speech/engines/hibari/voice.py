"""hibari voice: a network of 8 MB, and the package's own front end, which reads English."""

import importlib.resources
import json
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from hibari import dsp
from hibari.g2p import G2P
from hibari.g2p.lexicon import Lexicon
from hibari.g2p.normalize import normalize
from hibari.g2p.tagger import Tagger
from hibari.g2p.tokenize import Tokenizer

from capabilities.speech.engines.neural.alignment import WordPhonemes
from capabilities.speech.engines.neural.network import Network
from capabilities.speech.engines.neural.speaking import NeuralVoice, SentenceReading
from capabilities.speech.engines.neural.voiced import Voiced, speech_in, timed
from pipeline.log import get_logger
from workers.engines.prepared import Prepared
from workers.engines.tables import open_tables, write_tables

log = get_logger(__name__)

SAMPLE_RATE = 24_000
TABLES = "tables.sqlite"
#: Read at import: an upgrade may replace this file under a running process.
VERSIONS = version("hibari-tts"), Path(__file__).read_text("utf-8")
#: Seeds the noise in breaths, so that the same sentence is the same sound.
SEED = 0
#: The package drops the letters of an unknown word after so many.
MOST_LETTERS = 24
LONG_WORD = re.compile(rf"[^\W\d_]{{{MOST_LETTERS + 1},}}")
#: The package reads "API" as a word because of the quotation marks.
QUOTED = re.compile(r"[\"“”„«»]*\b([A-Z]{2}[A-Z0-9]*)\b[\"“”„«»]*")
#: Splits long numbers: the package has no word for one of 37 digits.
NUMBER = re.compile(r"\d{15}(?=\d)")
#: Unicode has no digit beyond its first two planes; all 17 took 0.2 s of each start.
TWO_PLANES = 0x20000
#: Digits in circles and superscripts, which the package takes for numbers and can't always read.
DIGITS = {
    place: str(unicodedata.digit(sign))
    for place, sign in enumerate(map(chr, range(TWO_PLANES)))
    if sign.isdigit() and not sign.isdecimal()
}
APART = {place: f" {digit} " for place, digit in DIGITS.items()}
#: Raised by the package for signs and numbers that it has no rule for.
UNREADABLE = (ValueError, IndexError, KeyError)


def _write(read: G2P, folder: Path) -> None:
    """Write a front end's dictionaries."""
    lexicon, tagger = read.lexicon, read.tagger
    write_tables(
        folder / TABLES,
        {
            "gold": lexicon.golds.d,
            "silver": lexicon.silvers.d,
            "tags": tagger.tagdict,
            "weights": tagger.weights,
            "vocabulary": dict.fromkeys(tagger.vocab, 1),
            "small": {"exceptions": read.tokenizer.special, "tags": tagger.tags},
        },
    )


def _open(folder: Path, *, is_british: bool) -> G2P:
    """Return a front end that looks up its dictionaries in tables. Its constructor would read them: 60 MB, 0.5 s."""
    tables = open_tables(folder / TABLES)
    small = tables["small"]
    read = G2P.__new__(G2P)
    read.lexicon = Lexicon(tables["gold"], tables["silver"], is_british)
    read.tokenizer = Tokenizer(small.get("exceptions"))
    read.tagger = Tagger({"tags": small.get("tags"), "tagdict": tables["tags"], "weights": tables["weights"]})
    read.tagger.vocab = tables["vocabulary"]
    read._oov, read.unk, read.british = None, "", is_british
    return read


class Front:
    """The package's dictionaries and rules of British or American English, for one thread at a time."""

    def __init__(self, *, is_british: bool) -> None:
        self._reader = Prepared(
            "hibari-gb" if is_british else "hibari-us",
            *VERSIONS,
            load=partial(G2P, british=is_british),
            write=_write,
            open=partial(_open, is_british=is_british),
        )
        self._reader.get()
        self._lock = threading.Lock()
        self.ids: Mapping[str, int] = json.loads(
            importlib.resources.files("hibari").joinpath("assets", "vocab.json").read_text("utf-8")
        )

    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence, without words that the package can't read."""
        try:
            tokens = self._tokens(sentence)
        except UNREADABLE as error:
            log.warning("words not read", engine="hibari", error=type(error).__name__)
            tokens = self._legible(sentence)
        return self._reading(sentence.translate(DIGITS), tokens)

    def _tokens(self, text: str) -> list[Any]:
        apart = NUMBER.sub(r"\g<0> ", text.translate(APART))
        # [word](/phonemes/) would be obeyed.
        plain = normalize(apart.strip().replace("](", "] ("))
        plain = QUOTED.sub(r"\1", plain)
        plain = LONG_WORD.sub(lambda found: " ".join(self._pieces(found[0])), plain)
        read = self._reader.get()
        with self._lock:
            tokens: list[Any] = read.phonemize_tokens(read.tokenize(plain))
        return tokens

    def _pieces(self, word: str) -> Iterator[str]:
        """Yield an unknown long word in pieces that the package reads whole, known words if possible."""
        is_known = self._reader.get().lexicon.is_known
        while len(word) > MOST_LETTERS and not is_known(word, None):
            most = min(MOST_LETTERS, len(word) - 3)  # no single letter is left, which would be spelt
            length = next((length for length in range(most, 2, -1) if is_known(word[:length], None)), most)
            yield word[:length]
            word = word[length:]
        yield word

    def _legible(self, sentence: str) -> list[Any]:
        """Return the tokens of a sentence without the words that the package fails at; none if it still fails."""
        words = []
        for word in sentence.split():
            with suppress(*UNREADABLE):
                self._tokens(word)
                words.append(word)
        with suppress(*UNREADABLE):
            return self._tokens(" ".join(words))
        return []

    def _reading(self, sentence: str, tokens: list[Any]) -> SentenceReading:
        phonemes, words, place = "", [], 0
        for token in tokens:
            spoken = "".join(phoneme for phoneme in token.phonemes or "" if phoneme in self.ids)
            # A token that is written differently is not found, and has no time.
            start = sentence.find(token.text, place) if token.text else -1
            if start >= 0:
                place = start + len(token.text)
                if spoken and any(letter.isalnum() for letter in token.text):
                    words.append(WordPhonemes(start, place, len(phonemes), len(phonemes) + len(spoken)))
            phonemes += spoken + (" " if token.whitespace else "")
        return SentenceReading(phonemes, words) if any(letter.isalpha() for letter in phonemes) else SentenceReading("")


class HibariVoice(NeuralVoice):
    """One of hibari's voices."""

    sample_rate = SAMPLE_RATE
    language = "en"
    most_phonemes = 400  # as in the package
    tells_length = False
    sentence_silence = 0.1

    def __init__(self, network: Network, front: Front) -> None:
        self._network, self._front = network, front

    def read(self, sentence: str) -> SentenceReading:
        return self._front.read(sentence)

    def voice(self, phonemes: str, speed: float) -> Voiced:
        ids = [self._front.ids[phoneme] for phoneme in phonemes]
        spectra, frames = self._network.run(
            {"ids": np.array([[0, *ids, 0]], np.int64), "speed": np.array([speed], np.float32)}
        )
        samples = dsp.synth(*(spectrum[0] for spectrum in spectra), np.random.default_rng(SEED))
        kept = speech_in(samples, sample_rate=SAMPLE_RATE, speed=speed)
        return timed(samples, frames, speed=speed, places=range(1, len(ids) + 2), kept=kept)
