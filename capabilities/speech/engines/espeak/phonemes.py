"""Phonemes: how libespeak-ng pronounces a text, in the International Phonetic Alphabet (IPA)."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from capabilities.speech.engines.espeak import libespeak

# speak_lib.h of espeak-ng 1.52.
_CHARS_UTF8 = 1
_IPA = 0x02
_TIE = 0x80  # puts the letter in bits 8 to 23 between the letters of one sound, such as a diphthong
#: A change of language, which the library writes into the phonemes: (en)kˈuːl(de).
LANGUAGE_FLAG = re.compile(r"\([a-z]{2,3}(?:-[^)]*)?\)")
#: Signs that end a clause, in any script, as the sign that models know.
TERMINATORS = {
    **{sign: sign for sign in ".,;:!?—…"},
    **dict.fromkeys("。．।۔።᙮‧։", "."),
    **dict.fromkeys("、，،", ","),
    **dict.fromkeys("！", "!"),
    **dict.fromkeys("？؟", "?"),
    **dict.fromkeys("；؛", ";"),
    **dict.fromkeys("：", ":"),
    **dict.fromkeys("–―", "—"),
}
#: Signs that may follow the end of a clause.
AFTER_TERMINATOR = " \t\r\n\"'“”‘’«»()[]"


@dataclass(frozen=True, slots=True)
class Clause:
    """The IPA of a clause, with stress and with spaces between most words, and the sign that ends it, or ""."""

    phonemes: str
    terminator: str


def has_voice(voice: str) -> bool:
    """Return whether the library knows a voice, such as en-us."""
    with libespeak.LOCK:
        return _set_voice(libespeak.load(), voice)


def read_texts(texts: Sequence[str], *, voice: str, tie: str = "") -> list[list[Clause]]:
    """Return the clauses of each text as a voice of the library, such as en-us, speaks them.

    `tie` is put between the letters of one sound. Setting the voice takes longer than reading a word, so send many
    texts at once. Raises EspeakFailed for an unknown voice."""
    library = libespeak.load()
    mode = _IPA | ((ord(tie) << 8 | _TIE) if tie else 0)
    with libespeak.LOCK:
        if not _set_voice(library, voice):
            raise libespeak.EspeakFailed(f"libespeak-ng has no voice {voice!r}.")
        return [list(_clauses(library, text, mode)) for text in texts]


def _set_voice(library: libespeak.Library, voice: str) -> bool:
    """Set the voice by its name or, as for en-gb and no, its language; return whether there is one."""
    set_voice = library.functions.espeak_SetVoiceByName
    if set_voice(voice.encode()) == 0:
        return True
    speakers = (listed.identifier for listed in library.voices() if voice.lower() in listed.languages)
    return any(set_voice(identifier.encode()) == 0 for identifier in speakers)


def _clauses(library: libespeak.Library, text: str, mode: int) -> Iterator[Clause]:
    to_phonemes = library.functions.espeak_TextToPhonemes
    to_phonemes.restype = ctypes.c_char_p
    to_phonemes.argtypes = (ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.c_int)
    encoded = text.encode()
    buffer = ctypes.create_string_buffer(encoded)
    start = ctypes.addressof(buffer)
    place, read = ctypes.c_void_p(start), 0
    while place.value:
        phonemes = to_phonemes(ctypes.byref(place), _CHARS_UTF8, mode).decode()
        # A null pointer: nothing is left. Else the library has already read one character of the next clause.
        now = place.value - start if place.value else len(encoded)
        clause = encoded[read:now].decode(errors="ignore")
        read = now
        if spoken := LANGUAGE_FLAG.sub("", phonemes).strip():
            yield Clause(spoken, _terminator(clause[:-1] if place.value else clause))


def _terminator(clause: str) -> str:
    ending = clause.rstrip(AFTER_TERMINATOR)
    return TERMINATORS.get(ending[-1:], "")
