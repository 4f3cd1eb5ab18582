"""espeak's controls, measured from the sound: speed, pitch, gain, stop."""

import subprocess
import sys

import numpy as np
import pytest
from sound import level_db, samples_of, shift_in_semitones

from capabilities.speech.engines.espeak.espeak import SpeechTooLong
from workers.engines import Stopped

SHORT = "Yes, now."
SENTENCE = (
    "Where are we now, and when will many more arrive? Our yellow umbrella, a memory of long ago, was lying under "
    "the willow. Nobody knew our name."
)
PAGE = (
    "Publishing is hard. A page needs words, pictures and a title; in 1998, 3.5 million existed.\n\nWho reads them? "
    * 8
)
SPEEDS = (0.25, 0.3, 0.4, 0.48, 0.5, 0.75, 0.95, 1.05, 1.25, 1.5, 1.71, 1.8, 2.0, 2.2, 2.4, 2.56, 2.6, 3.0, 3.5, 4.0)
#: On either side of where the engine changes how it does it, and the ends: what is long is spoken at these alone.
BORDERS = (0.25, 0.48, 0.95, 1.05, 1.8, 2.56, 4.0)
PITCHES = (-20, -16, -12, -9, -6, -4, -3.1, -3, -2, -1, -0.5, 0.5, 1, 2, 3, 3.1, 4, 6, 9, 12, 16, 20)
EXTREMES = (-20, -6, -0.5, 0.5, 6, 20)


@pytest.mark.parametrize("voice", ["en-US", "de-female", "cmn"])
@pytest.mark.parametrize(
    ("text", "speeds"),
    [("Hello.", SPEEDS), (SHORT, SPEEDS), (SENTENCE, SPEEDS), (PAGE, BORDERS)],
    ids=["word", "short", "sentence", "page"],
)
def test_speed_divides_the_duration_within_five_percent(espeak, voice, text, speeds):
    natural = espeak.speak(text, voice=voice).duration

    errors = {speed: espeak.speak(text, voice=voice, speed=speed).duration * speed / natural - 1 for speed in speeds}

    assert max(map(abs, errors.values())) < 0.05, errors


@pytest.mark.parametrize(
    ("voice", "hertz", "pitches"),
    [("en-US", 100, PITCHES), ("en-US-female", 177, EXTREMES), ("de", 100, EXTREMES), ("cmn", 97, EXTREMES)],
)
def test_pitch_moves_by_the_semitones_asked_for_and_the_duration_stays(espeak, voice, hertz, pitches):
    natural = espeak.speak(SENTENCE, voice=voice)

    for pitch in pitches:
        moved = espeak.speak(SENTENCE, voice=voice, pitch=pitch)

        shift = shift_in_semitones(natural, moved, voice_hertz=hertz, expected=pitch)
        assert shift == pytest.approx(pitch, abs=0.5)
        assert moved.duration / natural.duration == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(("speed", "pitch"), [(0.25, -20), (0.25, 20), (4, -20), (4, 20), (1.5, 2), (0.8, -5)])
def test_speed_and_pitch_go_together(espeak, speed, pitch):
    natural = espeak.speak(SENTENCE, voice="en-US")

    changed = espeak.speak(SENTENCE, voice="en-US", speed=speed, pitch=pitch)

    assert changed.duration * speed / natural.duration == pytest.approx(1, abs=0.05)
    if speed < 2:  # faster, a gliding voice changes within the four periods that are compared
        assert shift_in_semitones(natural, changed, voice_hertz=100, expected=pitch) == pytest.approx(pitch, abs=0.5)


def test_every_part_of_the_sound_is_still_there_at_every_speed(espeak):
    def tenths(speed: float) -> list[float]:
        sound = samples_of(espeak.speak(PAGE, voice="en-US", speed=speed))
        return [level_db(part) for part in np.array_split(sound, 10)]

    natural = tenths(1.0)

    for speed in (0.25, 0.5, 1.5, 2.0, 4.0):
        assert tenths(speed) == pytest.approx(natural, abs=2.0)


def test_a_voice_is_as_loud_at_another_speed_and_pitch(espeak):
    natural = level_db(samples_of(espeak.speak(PAGE, voice="en-US")))

    for changes in ({"speed": 0.25}, {"speed": 4.0}, {"pitch": -20}, {"pitch": 20}):
        assert level_db(samples_of(espeak.speak(PAGE, voice="en-US", **changes))) == pytest.approx(natural, abs=2)


def test_the_natural_voice_needs_neither_numpy_nor_another_process():
    program = (
        "import sys; from capabilities.speech.engines.espeak.espeak import Espeak\n"
        "assert 'espeakng_loader' not in sys.modules\n"
        "assert Espeak().speak('Hello.', voice='en-US').sample_rate == 22_050; assert 'numpy' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("speed", [1.0, 0.25, 2.0])
def test_a_stop_ends_the_speech_at_once(espeak, speed):
    asked = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 20

    with pytest.raises(Stopped):
        espeak.speak(PAGE * 13, voice="en-US", speed=speed, stop=stop)
    assert len(asked) < 25


def test_speech_of_many_hours_is_refused(espeak):
    with pytest.raises(SpeechTooLong, match="the limit is 4"):
        espeak.speak("你好世界。" * 500, voice="en-US", speed=0.02)
