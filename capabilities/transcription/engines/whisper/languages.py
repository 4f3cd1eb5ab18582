"""Languages: which one is spoken in each part of a sound, and where its pauses are."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from numpy.typing import NDArray

from capabilities.transcription.engines import SAMPLE_RATE
from capabilities.transcription.engines.low_notes import SOFT, with_low_notes

#: Least seconds of a piece of speech that is judged by itself. It ends with a pause.
PIECE_SECONDS = 5.0
#: Most seconds of a piece that the model looks at.
LOOK_SECONDS = 8.0
#: Pieces heard before the first is decided on, so that a jingle does not decide.
AHEAD = 4
#: The least sum of probabilities, over the pieces, of a language that counts as heard.
HEARD = 0.9
#: How much likelier than a language that was heard a new one must be. Short Spanish may sound like Catalan. Of English,
#: Spanish, French, Italian and Russian, a piece is mostly a hundred times likelier in its own.
SURE = 20.0
#: The only piece of a sound is judged a second time, padded as Whisper was trained, if no language is as likely.
SURE_ALONE = 0.8
#: Longest speech without a pause, in seconds: with nearly PIECE_SECONDS and a pause before it, the model takes both.
LONGEST_SECONDS = 20.0
#: Seconds after which a part ends, for each sound of a batch, so that its text need not wait for the rest.
PART_SECONDS = 60.0
#: The model takes half a minute at once, so clips of pieces are almost as long; a longer pause ends one, since silence
#: tempts the model to invent.
CLIP_SECONDS, CLIP_PAUSE = 29.0, 4.0
#: The weight of the language so far, in pieces.
HEAD_START = 4.0
#: The first sample of a part of a sound, and the one behind its last.
Clip = tuple[int, int]


@dataclass(slots=True)
class Part:
    """Pieces of speech in one language, by Whisper's code."""

    language: str
    probability: float
    pieces: list[Clip] = field(default_factory=list)

    def clips(self, *, starts_short: bool) -> Iterator[Clip]:
        """Yield the ends of what the model takes at once. Each ends in a pause, so that no word is cut or said twice.

        `starts_short`: the first clip has one piece, so that its text comes soon."""
        start, stop = self.pieces[0]
        for number, (begin, end) in enumerate(self.pieces[1:]):
            is_long = end - start > CLIP_SECONDS * SAMPLE_RATE or begin - stop > CLIP_PAUSE * SAMPLE_RATE
            if is_long or (starts_short and not number):
                yield start, stop
                start = begin
            stop = end
        yield start, stop


def find_parts(model: Any, sound: NDArray[Any], likely: str | None, *, batch: int = 1) -> Iterator[Part]:
    """Yield the parts of a sound (float32, 16 kHz) in which somebody speaks. `likely` is the language so far."""
    judged = ((start, stop, _probabilities(model, sound[start:stop])) for start, stop in find_pieces(sound))
    first = list(islice(judged, AHEAD))
    if len(first) == 1 and max(first[0][2].values()) < SURE_ALONE:
        start, stop, probabilities = first[0]
        first = [(start, stop, _padded(model, sound[start:stop], probabilities))]
    votes: defaultdict[str, float] = defaultdict(float, {likely: HEAD_START} if likely else {})
    for _, _, probabilities in first:
        _add(votes, probabilities)
    part: Part | None = None
    for number, (start, stop, probabilities) in enumerate(chain(first, judged)):
        if number >= AHEAD:
            _add(votes, probabilities)
        language = _language(probabilities, votes)
        if part and (part.language != language or stop - part.pieces[0][0] > batch * PART_SECONDS * SAMPLE_RATE):
            yield part
            part = None
        part = part or Part(language, probabilities[language])
        part.pieces.append((start, stop))
    if part:
        yield part


def _language(probabilities: Mapping[str, float], votes: Mapping[str, float]) -> str:
    """Return the likeliest language of those heard so far, or another one that is far likelier."""
    heard = [language for language, vote in votes.items() if vote >= HEARD] or [max(votes, key=votes.__getitem__)]
    known = max(heard, key=probabilities.__getitem__)
    best = max(probabilities, key=probabilities.__getitem__)
    return best if probabilities[best] > SURE * probabilities[known] else known


def _add(votes: defaultdict[str, float], probabilities: Mapping[str, float]) -> None:
    for language, probability in probabilities.items():
        votes[language] += probability


def _probabilities(model: Any, piece: NDArray[Any]) -> Mapping[str, float]:
    """Return how likely each language is. A piece is not padded to half a minute, which would take far longer."""
    features = model.feature_extractor(piece[: int(LOOK_SECONDS * SAMPLE_RATE)])
    [found] = model.model.detect_language(model.encode(features))
    return {token[2:-2]: probability for token, probability in found}


def _padded(model: Any, piece: NDArray[Any], before: Mapping[str, float]) -> Mapping[str, float]:
    """Return the mean of what was found before and of what is found in half a minute, which takes 0.7 s."""
    _, _, found = model.detect_language(piece)
    return {language: (probability + before.get(language, 0.0)) / 2 for language, probability in found}


def find_pieces(sound: NDArray[Any]) -> Iterator[Clip]:
    """Yield the pieces of speech."""
    from faster_whisper.vad import VadOptions, get_speech_timestamps

    how = VadOptions(
        min_speech_duration_ms=250,  # single notes of music are shorter
        min_silence_duration_ms=300,
        speech_pad_ms=200,
        max_speech_duration_s=LONGEST_SECONDS,
    )
    begin: int | None = None
    stop = 0
    for speech in get_speech_timestamps(with_low_notes(sound, loudness=SOFT), how):
        if begin is not None and speech["start"] - stop > CLIP_PAUSE * SAMPLE_RATE:
            yield begin, stop
            begin = None
        begin = speech["start"] if begin is None else begin
        stop = speech["end"]
        if stop - begin >= PIECE_SECONDS * SAMPLE_RATE:
            yield begin, stop
            begin = None
    if begin is not None:
        yield begin, stop
