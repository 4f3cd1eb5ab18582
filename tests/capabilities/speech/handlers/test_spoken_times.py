"""Pauses and times of real speech, measured from the sound."""

from itertools import pairwise

import numpy as np
import pytest
from given_task import GivenTask
from mp3_files import decoded
from sound import Floats, integrated_loudness

from capabilities.speech.handlers.batch import SpeechBatchHandler
from capabilities.speech.handlers.speech import SpeechHandler
from capabilities.speech.handlers.stream import SpeechStreamHandler
from capabilities.speech.kinds.batch import SpeechBatchInput
from capabilities.speech.kinds.speech import SpeechInput
from capabilities.speech.kinds.stream import SpeechStreamInput
from pipeline.settings import Settings
from workers.engines.resources import Resources

RATE = 16_000
#: What is quieter is silence, in blocks of 5 ms.
QUIET, BLOCK = 0.004, RATE // 200
TEXT = "Elephants. [pause 2s] Umbrellas are yellow. [pause 500ms] Elephants."


@pytest.fixture(scope="module", params=["espeak", "hibari"])
def resources(request: pytest.FixtureRequest) -> Resources:
    return Resources(Settings(synthesis={"engines": request.param}))


@pytest.fixture(scope="module")
def speech(resources: Resources) -> SpeechHandler:
    handler = SpeechHandler(resources)
    handler.setup()
    return handler


@pytest.fixture(scope="module")
def chapter(resources: Resources) -> SpeechBatchHandler:
    handler = SpeechBatchHandler(resources)
    handler.setup()
    return handler


def carry_out(handler, **fields):
    """Return what a handler made of a request: its output, the sound's samples at RATE, and what it kept."""
    request = (SpeechInput if isinstance(handler, SpeechHandler) else SpeechBatchInput)(**fields)
    task = GivenTask(request)
    output = handler.carry_out(task).output
    return output, decoded(task.kept[output.artifact], RATE), task.kept


def silences(sound: Floats, shortest: float) -> list[tuple[float, float]]:
    """Return where silences begin and end, in seconds, its ends left out."""
    peaks = np.abs(sound[: len(sound) // BLOCK * BLOCK]).reshape(-1, BLOCK).max(axis=1)
    loud = np.flatnonzero(peaks >= QUIET)
    ends = [(before + 1, after) for before, after in pairwise(loud)]
    return [(a * BLOCK / RATE, b * BLOCK / RATE) for a, b in ends if (b - a) * BLOCK / RATE >= shortest]


def lengths_of(found: list[tuple[float, float]]) -> list[float]:
    return [end - begin for begin, end in found]


def level(sound: Floats, start: float, end: float) -> float:
    piece = sound[round(start * RATE) : round(end * RATE)]
    return float(np.sqrt(np.mean(piece**2))) if len(piece) else 0.0


def likeness(one: Floats, other: Floats) -> float:
    """Return how alike the loudness of two sounds goes up and down; 1 is the same.

    Not their samples: espeak says no word twice with the same ones."""
    length = min(len(one), len(other)) // (2 * BLOCK) * 2 * BLOCK
    levels = [np.sqrt(np.mean(sound[:length].reshape(-1, 2 * BLOCK) ** 2, axis=1)) for sound in (one, other)]
    return float(np.corrcoef(*levels)[0, 1])


def test_a_pause_adds_as_much_silence_as_it_says(speech):
    _, sound, _ = carry_out(speech, text="Elephants. [pause 2s] Umbrellas are yellow. [pause 300ms] Yes.[pause 1.5s]")

    assert lengths_of(silences(sound, shortest=0.25)) == pytest.approx([2, 0.3], abs=0.03)
    assert np.abs(sound[round(-1.49 * RATE) :]).max() < QUIET
    assert np.abs(sound[round(-1.54 * RATE) :]).max() > QUIET


def test_every_route_is_equally_loud_and_a_gain_is_added_to_that(speech, chapter, resources):
    text = "Really? I never would have thought so! But then, who am I to judge what others do."
    stream = SpeechStreamHandler(resources)
    stream.setup()
    streamed = GivenTask(SpeechStreamInput(text=text, response_format="wav"))
    stream.carry_out(streamed)

    sounds = {
        "speech": carry_out(speech, text=text)[1],
        "chapter": carry_out(chapter, text=text)[1],
        "stream": decoded(b"".join(streamed.kept.values()), RATE),
        "softer": carry_out(speech, text=text, volume_gain_db=-12)[1],
    }

    heard = {name: integrated_loudness(sound, RATE) for name, sound in sounds.items()}
    assert heard.pop("softer") - heard["speech"] == pytest.approx(-12, abs=0.1)
    assert list(heard.values()) == pytest.approx([-16] * 3, abs=1.5), heard


@pytest.mark.parametrize(
    ("is_chapter", "fields"), [(True, {}), (False, {}), (False, {"speed": 2.0, "pitch": 2.0}), (False, {"speed": 0.5})]
)
def test_times_are_those_of_the_sound(speech, chapter, is_chapter, fields):
    output, sound, _ = carry_out(chapter if is_chapter else speech, text=TEXT, timestamps=True, **fields)

    times = output.times
    assert [sentence.text for sentence in times.sentences] == ["Elephants.", "Umbrellas are yellow.", "Elephants."]
    words = [word for sentence in times.sentences for word in sentence.words]
    assert [word.word for word in words] == ["Elephants.", "Umbrellas", "are", "yellow.", "Elephants."]
    # A word repeated between long pauses is found where the times say, and nothing is heard between sentences.
    first, *_, last = words
    # 25 times espeak's own were 0.82 at least; 60 ms beside them it is 0.34 at most, and 100 ms 0.55.
    pieces = [sound[round(word.start * RATE) : round(word.end * RATE)] for word in (first, last)]
    assert likeness(*pieces) > 0.7
    loudest = max(level(sound, sentence.start, sentence.end) for sentence in times.sentences)
    # A neural voice fades into the pause, the longer the slower it speaks.
    echo = 0.1 / fields.get("speed", 1.0)
    for sentence, following in pairwise(times.sentences):
        assert level(sound, sentence.end + echo, following.start - 0.06) < 0.03 * loudest
        assert following.start - sentence.end >= 0.45
    assert times.sentences[1].start - times.sentences[0].end == pytest.approx(2, abs=0.2)


def test_subtitles_are_kept_of_the_text_as_it_was_sent(chapter):
    text = "It costs $10 million, said Dr. Smith.\n\n[pause 1s] What a surprise that was for everybody in the room!"

    output, sound, kept = carry_out(chapter, text=text, timestamps=True)

    srt, vtt = kept[output.times.srt].decode(), kept[output.times.vtt].decode()
    assert srt.startswith("1\n00:00:00,")
    assert vtt.startswith("WEBVTT\n")
    assert "$10 million" in srt.replace("\n", " ")
    assert "pause" not in srt
    assert output.times.sentences[-1].end <= len(sound) / RATE + 0.05
    assert carry_out(chapter, text=text)[0].times is None


def test_the_lexicon_is_heard_and_the_text_stays_as_it_was_sent(speech):
    lexicon = [{"word": "NASA", "replacement": "the agency for space flight"}, {"word": "umlaut", "replacement": ""}]
    given = SpeechInput(text="Umlaut ask Nasa, now. NASA!", lexicon=lexicon, timestamps=True)
    said = "ask the agency for space flight, now. the agency for space flight!"

    output = speech.carry_out(GivenTask(given)).output

    assert output.duration_seconds == pytest.approx(carry_out(speech, text=said)[0].duration_seconds, abs=0.1)
    words = [word for sentence in output.times.sentences for word in sentence.words]
    assert [word.word for word in words][-4:] == ["ask", "Nasa,", "now.", "NASA!"]
    assert words[-3].end - words[-3].start > 3 * (words[-4].end - words[-4].start)


def test_a_chapter_is_not_done_before_its_mp3_is_made(chapter: SpeechBatchHandler) -> None:
    task = GivenTask(SpeechBatchInput(text=TEXT))
    chapter.carry_out(task)

    (total,) = {total for _, total in task.steps}
    done = [done for done, _ in task.steps]
    spoken = [one for one in done if one == int(one)]
    assert done == sorted(done)
    assert done[-1] == total > len(spoken) - 1  # the last step is the encoder's
    assert task.steps[0][0] < total - 1
