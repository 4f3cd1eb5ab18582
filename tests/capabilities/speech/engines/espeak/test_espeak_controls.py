"""espeak's controls, measured from the sound: speed, pitch, gain, stop."""

import pytest
from sound import shift_in_semitones

from capabilities.speech.engines.espeak.espeak import SpeechTooLong
from workers.engines import Stopped

SHORT = "Yes, now."
SENTENCE = (
    "Where are we now, and when will many more arrive? Our yellow umbrella, a memory of long ago, was lying under "
    "the willow. Nobody knew our name."
)
PAGE = (
    "Publishing is hard. A page needs words, pictures and a title; in 1998, 3.5 million existed.\n\nWho reads them? "
    * 4
)
#: The ends, and on either side of where the engine changes how it does it.
SPEEDS = (0.25, 0.48, 0.5, 0.95, 1.05, 1.5, 1.71, 1.8, 2.56, 4.0)
PITCHES = (-20, -6, -3.1, -3, -0.5, 0.5, 3, 3.1, 6, 20)


@pytest.mark.parametrize("voice", ["en-US", "de-female", "cmn"])
@pytest.mark.parametrize("text", ["Hello.", SHORT, SENTENCE, PAGE], ids=["word", "short", "sentence", "page"])
def test_speed_divides_the_duration_within_five_percent(espeak, voice, text):
    natural = espeak.speak(text, voice=voice).duration

    errors = {speed: espeak.speak(text, voice=voice, speed=speed).duration * speed / natural - 1 for speed in SPEEDS}

    assert max(map(abs, errors.values())) < 0.05, errors


@pytest.mark.parametrize(("voice", "hertz"), [("en-US", 100), ("en-US-female", 177), ("cmn", 97)])
def test_pitch_moves_by_the_semitones_asked_for_and_the_duration_stays(espeak, voice, hertz):
    natural = espeak.speak(SENTENCE, voice=voice)

    for pitch in PITCHES:
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


@pytest.mark.parametrize("speed", [1.0, 0.25, 2.0])
def test_a_stop_ends_the_speech_at_once(espeak, speed):
    asked = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 20

    with pytest.raises(Stopped):
        espeak.speak(PAGE * 26, voice="en-US", speed=speed, stop=stop)
    assert len(asked) < 25


def test_speech_of_many_hours_is_refused(espeak):
    with pytest.raises(SpeechTooLong, match="the limit is 4"):
        espeak.speak("你好世界。" * 100, voice="en-US", speed=0.02)
