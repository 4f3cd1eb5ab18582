"""Speakers: tells for each segment of a transcript who says it."""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from capabilities.transcription.engines import HeardSegment
from capabilities.transcription.engines.speakers.encoder import VoiceEncoder
from capabilities.transcription.engines.speakers.turns import Turn, find_turns
from capabilities.transcription.handlers.progress import Transcribed
from capabilities.transcription.kinds.transcription import RecordingInput
from pipeline.errors import InvalidRequest, NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.subtitles.subtitles import places_of
from workers.engines.resources import Resources
from workers.handler import Task
from workers.media.audio.track import Track
from workers.models.fetching import fetch
from workers.models.store import ModelStore

log = get_logger(__name__)

MODEL = "resemblyzer"
#: A change of speakers within a segment counts if the one who interrupts says at least so many words, or for so many
#: seconds; otherwise a word at the edge of a turn would be taken for a turn.
LEAST_WORDS, LEAST_SECONDS = 2, 0.6


class SpeakersNotAvailable(InvalidRequest):
    """The model that tells voices apart is not here."""

    code = "speakers_not_available"
    field = "diarize"


class Speakers:
    """Tells speakers apart; its model is downloaded and loaded at first use."""

    def __init__(self, resources: Resources) -> None:
        self._models = resources.settings.models
        self._store = ModelStore(resources.settings)
        self._lock = threading.Lock()
        self._encoder: VoiceEncoder | None = None

    def load(self) -> VoiceEncoder:
        """Return the network. Raises SpeakersNotAvailable."""
        with self._lock:
            if self._encoder is None:
                model = self._store.catalogue[MODEL]
                try:
                    folder = self._store.folder(model)
                    if folder is None and self._models.download == "auto":
                        folder = fetch(self._store, model, stall_seconds=self._models.stall_seconds)
                    if folder is None:
                        raise NotReady("It may not be downloaded by itself here.")
                    self._encoder = VoiceEncoder(folder)
                except PressroomError as error:  # it may name a path, which is not for callers
                    log.warning("speakers not told apart", model=MODEL, reason=error.message)
                    raise SpeakersNotAvailable(
                        f"The model {MODEL}, which tells voices apart, is not here. Let the operator run `pressroom"
                        f" models fetch {MODEL}`, which says what is wrong, or leave out diarize."
                    ) from error
            return self._encoder

    def tell(self, transcribed: Transcribed, track: Track, count: int | None, task: Task[RecordingInput]) -> None:
        """Give each segment its speaker; one in which the speaker changes becomes several. Raises Stopped."""
        total = round(track.duration.total_seconds(), 1)
        turns = find_turns(
            track, self.load(), count, stop=task.is_stopped, looked=lambda _: task.progress(total, total)
        )
        transcribed.segments = [
            part for segment in transcribed.segments for part in split(segment, near(segment, turns))
        ]


def near(segment: HeardSegment, turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns that a segment may belong to: there are thousands in an hour."""
    first = bisect_left(turns, segment.start, key=lambda turn: turn.end)
    last = bisect_right(turns, segment.end, key=lambda turn: turn.start)
    return turns[max(0, first - 1) : last + 1]


def split(segment: HeardSegment, turns: Sequence[Turn]) -> Iterator[HeardSegment]:
    """Yield a segment in parts of one speaker each."""
    words = segment.words or []
    places = places_of(segment.text, words)
    if not words or places is None:
        yield segment.model_copy(update={"speaker": name_of(speaker_at(segment.start, segment.end, turns))})
        return
    speakers = _settled([speaker_at(word.start, word.end, turns) for word in words], segment)
    changes = [0, *(at for at in range(1, len(words)) if speakers[at] != speakers[at - 1]), len(words)]
    for first, last in pairwise(changes):
        text = segment.text[places[first] if first else 0 : places[last] if last < len(words) else None].strip()
        yield segment.model_copy(
            update={
                "speaker": name_of(speakers[first]),
                "text": text,
                "words": words[first:last],
                "start": words[first].start if first else segment.start,
                "end": words[last - 1].end if last < len(words) else segment.end,
            }
        )


def _settled(speakers: list[int], segment: HeardSegment) -> list[int]:
    """Return the speakers of words without turns that are too short to be believed."""
    words = segment.words or []
    settled = speakers[:]
    first = 0
    for at in range(1, len(words) + 1):
        if at < len(words) and speakers[at] == speakers[first]:
            continue
        seconds = words[at - 1].end - words[first].start
        if at - first < LEAST_WORDS and seconds < LEAST_SECONDS and at - first < len(words):
            settled[first:at] = [settled[first - 1] if first else speakers[min(at, len(words) - 1)]] * (at - first)
        first = at
    return settled


def speaker_at(start: float, end: float, turns: Sequence[Turn]) -> int:
    """Return the speaker with most time from `start` to `end`, else the nearest; 0 if nobody was found."""
    overlaps = [min(end, turn.end) - max(start, turn.start) for turn in turns]
    return turns[max(range(len(turns)), key=overlaps.__getitem__)].speaker if turns else 0


def name_of(speaker: int) -> str:
    """Return the name of a speaker, counted from 0."""
    return f"Speaker {speaker + 1}"
