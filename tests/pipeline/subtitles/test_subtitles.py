"""Subtitles: short enough to be read as they are heard, in two lines, and every word in its order."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
import srt
import webvtt

from capabilities.transcription.handlers.delivery import render
from capabilities.transcription.kinds.transcripts import Transcript
from pipeline.subtitles.segments import Segment, Word
from pipeline.subtitles.subtitles import LINE, LONGEST, READ_A_SECOND, lines_of, subtitles

SAID = (
    "Well. The council met on Tuesday evening to speak about the bridge, which has been closed since the flood in"
    " spring, and decided nothing. It meets again in June!"
)
ENGLISH = SAID.split()
CHINESE = [*"今天天气很好我们去公园散步然后回家吃饭。", *"明天可能会下雨所以我们要带雨伞出门上班。"]


def segment(words: Sequence[str], *, between: str = " ", seconds: float = 0.4) -> Segment:
    """Return what somebody says without a pause."""
    times = [
        Word(start=round(at * seconds, 3), end=round((at + 1) * seconds, 3), word=word) for at, word in enumerate(words)
    ]
    return Segment(start=0, end=times[-1].end, text=between.join(words), words=times)


def shown(segments: Sequence[Segment]) -> list[Segment]:
    """Return the subtitles of an English sound that goes on for long."""
    return subtitles(segments, language="en", latest=1_000)


@pytest.mark.parametrize(("words", "between"), [(ENGLISH, " "), (CHINESE, "")])
@pytest.mark.parametrize("seconds", [0.2, 0.4, 3.0])
def test_each_can_be_read_and_together_they_are_the_whole(words: list[str], between: str, seconds: float) -> None:
    whole = segment(words, between=between, seconds=seconds)

    parts = subtitles([whole], language="zh" if between == "" else "en", latest=whole.end)

    assert len(parts) > 1
    assert between.join(part.text for part in parts) == whole.text
    assert [word for part in parts for word in part.words or ()] == whole.words
    assert all(part.end - part.start <= LONGEST for part in parts)
    assert (parts[0].start, parts[-1].end) == (whole.start, whole.end)
    for part in parts:
        lines = lines_of(part.text).split("\n")
        assert len(lines) <= 2
        assert all(len(line) <= (LINE if between else LINE // 2) for line in lines)


def test_it_ends_where_a_sentence_does_and_nothing_flashes_up() -> None:
    parts = shown([segment(ENGLISH)])

    assert [part.text[-1] for part in parts[-2:]] == [".", "!"]
    assert parts[0].text.startswith("Well. The council")
    assert min(part.end - part.start for part in parts) >= 1


def test_one_that_can_be_read_stays_as_it_is() -> None:
    short = segment(["This", "is", "short."])

    assert shown([short]) == [short]
    assert lines_of(short.text) == short.text


def test_without_the_times_of_words_nothing_is_parted() -> None:
    for words in (None, [], [Word(start=0, end=1, word="other"), Word(start=1, end=2, word="words")]):
        long = segment(ENGLISH).model_copy(update={"words": words})
        assert shown([long]) == [long]


def said(*parts: tuple[float, float, str]) -> list[Segment]:
    return [Segment(start=start, end=end, text=text) for start, end, text in parts]


def test_none_begins_before_the_last_has_ended_and_each_takes_time() -> None:
    parts = shown(
        said((0, 2, "one"), (1.5, 3, "two"), (1.0, 2.0, "three"), (9, 9, "four"), (9.1, 9.2, ""), (20, 21, "five"))
    )

    assert [part.text for part in parts] == ["one", "two three", "four", "five"]
    assert all(earlier.end <= later.start for earlier, later in pairwise(parts))
    assert all(part.end - part.start >= 1 for part in parts)


def test_what_would_only_flash_up_is_shown_with_its_neighbour() -> None:
    to, cars = (segment(words, seconds=0.5) for words in (["To."], ["The", "new", "green", "cars."]))
    later = cars.moved(0.9, latest=9)

    [joined] = shown([to, later])

    assert (joined.start, joined.end, joined.text) == (0, 2.9, "To. The new green cars.")
    assert [word.word for word in joined.words or ()] == ["To.", "The", "new", "green", "cars."]
    assert [part.text for part in subtitles(said((0, 2, "你好。"), (2, 2.4, "是。")), language="zh", latest=9)] == [
        "你好。是。"
    ]


def test_what_is_far_away_or_would_be_too_long_stays_alone_and_is_shown_for_a_second() -> None:
    long = " ".join(ENGLISH[:15])

    parts = shown(said((0, 0.3, "Yes."), (1.2, 2.0, "Far away."), (3, 7.15, long), (8, 8.2, "No.")))

    assert [(part.text, part.start, part.end) for part in parts] == [
        ("Yes.", 0, 1), ("Far away.", 1.2, 2.2), (long, 3, 7.15), ("No.", 8, 9),
    ]  # fmt: skip


def test_it_stays_until_it_is_read_unless_somebody_speaks_or_the_sound_ends() -> None:
    text = " ".join(ENGLISH[:12])
    needed = len(text) / READ_A_SECOND

    for until, end in ((9.0, needed), (2.0, 2.0), (needed + 0.05, needed + 0.05)):
        [first, _] = shown(said((0, 1.5, text), (until, until + 2, "And so it goes on.")))
        assert first.end == pytest.approx(end, abs=0.001)
    [last] = subtitles(said((0, 1.5, text)), language="en", latest=1.8)
    assert last.end == 1.8


def test_none_is_longer_than_promised_to_spare_a_flicker() -> None:
    for until, end in ((LONGEST, LONGEST), (LONGEST + 0.05, LONGEST - 0.02)):
        [first, _] = shown(said((0, LONGEST - 0.02, "So it was."), (until, until + 2, "And so it goes on.")))
        assert first.end == end


def test_two_that_are_joined_are_as_sure_as_the_less_sure() -> None:
    sure, unsure = (
        Segment(start=start, end=start + 0.4, text="Yes.", probability=probability)
        for start, probability in ((0, 0.9), (0.5, 0.0))
    )

    assert [part.probability for part in shown([sure, unsure])] == [0.0]


def test_a_line_ends_with_a_part_of_a_sentence_where_that_is_not_far_from_the_middle() -> None:
    assert lines_of("The doors were closed, so we had to wait for them.").split("\n")[0] == "The doors were closed,"
    assert lines_of("No, the council of the city has met on Tuesday evening.").split("\n")[0] != "No,"
    for text in ("今天天气很好我们去公园散步。然后回家吃饭明天会下雨。", "一二三四五六七八九十一，" * 2):
        first, second = lines_of(text).split("\n")
        assert first[-1] in "。，"
        assert second[0] not in "。，"


@pytest.mark.parametrize(
    "text", ["-->", "00:00:01,000 --> 00:00:02,000", "<script>x</script> & <v Bob>", "NOTE a", "1"]
)
def test_no_text_passes_for_something_else_in_a_file_of_subtitles(text: str) -> None:
    cues_said = said(*((at, at + 1, text) for at in range(3)))
    transcript = Transcript(
        text=text,
        language="en",
        language_probability=None,
        duration=3,
        credits_used=5,
        draft=False,
        warnings=[],
        segments=cues_said,
    )

    cues = list(srt.parse(render(transcript, "srt")))
    captions = webvtt.from_string(render(transcript, "vtt")).captions

    assert [cue.content for cue in cues] == [text.replace("-->", "→")] * 3
    assert [cue.start.total_seconds() for cue in cues] == [0, 1, 2]
    assert len(captions) == 3
    assert all("<" not in caption.raw_text and "-->" not in caption.raw_text for caption in captions)


def test_a_long_sentence_without_signs_is_split_like_a_short_one() -> None:
    words = ["word"] * 4_000

    parts = subtitles([segment(words)], language="en", latest=1_600)

    assert " ".join(part.text for part in parts) == " ".join(words)
    assert all(len(line) <= LINE for part in parts for line in lines_of(part.text).split("\n"))
