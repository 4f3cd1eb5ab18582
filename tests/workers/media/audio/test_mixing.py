"""Mixing: measured in the mix itself. Speech and music are of bands that don't meet, so that each is heard alone."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from mp3_files import decoded, encode_mp3, frames_of
from sound import integrated_loudness, level_db, true_peak_db

from workers.engines import Stopped
from workers.media.audio.gain import step_length
from workers.media.audio.levelling import Levelled
from workers.media.audio.mixing import DEPTH, MASTERED, Bed, looped, mix

RATE = 44_100
NONE = timedelta()


def sine(hertz: float, seconds: float, amplitude: float = 0.2) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)


def chord(seconds: float) -> np.ndarray:
    """Music below 700 Hz."""
    return sine(220, seconds) + sine(330, seconds) + sine(554.4, seconds)


def spoken(*spans: tuple[float, float], seconds: float) -> np.ndarray:
    """Speech above 2 kHz: syllables in some spans of time, and silence elsewhere."""
    time = np.arange(round(seconds * RATE)) / RATE
    syllables = 0.3 * np.sin(2 * np.pi * 2_500 * time) * (0.55 - 0.45 * np.cos(2 * np.pi * 4 * time))
    return syllables * np.any([(time >= start) & (time < stop) for start, stop in spans], axis=0)


def band(samples: np.ndarray, low: float, high: float) -> np.ndarray:
    spectrum = np.fft.rfft(samples)
    hertz = np.fft.rfftfreq(len(samples), 1 / RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    return np.fft.irfft(spectrum, len(samples))


def between(samples: np.ndarray, start: float, stop: float) -> np.ndarray:
    return samples[round(start * RATE) : round(stop * RATE)]


@pytest.fixture
def mixed(track_of) -> Callable[..., np.ndarray]:
    """A function that mixes float samples."""

    def run(speech: np.ndarray, music: np.ndarray, bed: Bed) -> np.ndarray:
        with mix(track_of(speech, RATE), track_of(music, RATE), bed) as track:
            alone = (bed.intro + bed.outro).total_seconds()
            assert len(track) == pytest.approx(len(speech) + alone * RATE, abs=RATE // 1_000)
            return track.read(0, len(track)) / 32_767

    return run


# Ducking.


def test_music_dips_under_speech_and_comes_back_in_pauses(mixed):
    speech = spoken((2, 5), (7, 9), seconds=12)

    music = band(mixed(speech, chord(12), Bed(fade=NONE)), 0, 1_500)

    pauses = [level_db(between(music, *span)) for span in ((0, 1.8), (5.9, 6.8), (10, 12))]
    under = [level_db(between(music, *span)) for span in ((2, 5), (7, 9))]
    assert max(pauses) - min(pauses) < 1
    assert min(pauses) - max(under) == pytest.approx(DEPTH, abs=1)


def test_music_is_down_before_the_first_sound_and_goes_gently(mixed):
    speech = spoken((3, 5), seconds=8)

    music = band(mixed(speech, chord(8), Bed(fade=NONE)), 0, 1_500)

    assert level_db(between(music, 2.95, 3)) < level_db(between(music, 2, 2.5)) - DEPTH / 2
    levels = np.array([level_db(between(music, at, at + 0.1)) for at in np.arange(0, 7.9, 0.05)])
    assert np.abs(np.diff(levels)).max() < DEPTH / 2


def test_without_ducking_music_stays_where_it_is(mixed):
    music = band(mixed(spoken((2, 5), seconds=8), chord(8), Bed(fade=NONE, duck=False)), 0, 1_500)

    levels = [level_db(between(music, at, at + 0.5)) for at in np.arange(0, 7.5, 0.5)]
    assert max(levels) - min(levels) < 0.5


# Levels.


@pytest.mark.parametrize("volume", [-30, -20, -6])
@pytest.mark.parametrize("level", [0.01, 0.3])
def test_music_lies_as_far_under_speech_as_was_asked_however_loud_it_came(mixed, volume, level):
    """Never over the speech."""
    speech = spoken((0, 10), seconds=10)

    whole = mixed(speech, chord(10) * level, Bed(volume_db=volume, fade=NONE, duck=False))

    voice = integrated_loudness(band(whole, 1_500, RATE), RATE)
    assert integrated_loudness(band(whole, 0, 1_500), RATE) - voice == pytest.approx(min(0, volume + MASTERED), abs=0.5)


def test_music_is_heard_under_real_speech_at_the_default_volume(ffmpeg, track_of, speech):
    """What the mix has beside the voice, as a listener's meter measures it: 8 to 10 LU under it."""
    music = track_of(chord(7), RATE)
    with track_of(speech).resampled(ffmpeg, RATE) as voice, mix(voice, music, Bed()) as track:
        whole, alone = track.read(0, len(track)) / 32_767, voice.read(0, len(voice)) / 32_767
    # The gain of the voice in the mix; the chord has next to nothing in its upper band.
    gain = np.dot(band(whole, 1_500, 8_000), band(alone, 1_500, 8_000)) / np.square(band(alone, 1_500, 8_000)).sum()
    spoken_part, music_part = gain * alone, whole - gain * alone

    under = integrated_loudness(between(spoken_part, 2, 18), RATE) - integrated_loudness(
        between(music_part, 2, 18), RATE
    )

    assert 8 <= under <= 10


def test_music_stands_alone_before_and_behind_the_voice(mixed):
    bed = Bed(fade=timedelta(seconds=2), intro=timedelta(seconds=3), outro=timedelta(seconds=4))
    speech = spoken((0, 5), seconds=5)

    whole = mixed(speech, chord(3), bed)

    voice, music = band(whole, 1_500, RATE), band(whole, 0, 1_500)
    begins = round(3 * RATE / step_length(RATE)) * step_length(RATE)
    assert np.corrcoef(voice[begins : begins + len(speech)], speech)[0, 1] > 0.99
    assert max(level_db(between(voice, 0, 2.9)), level_db(between(voice, 8.1, 12))) < level_db(speech) - 40
    under = level_db(between(music, 4, 7))
    assert level_db(between(music, 2.1, 2.7)) - under == pytest.approx(DEPTH, abs=0.7)
    assert level_db(between(music, 8.9, 9.9)) - under == pytest.approx(DEPTH, abs=0.7)
    for edge, full in ((between(music, 0, 0.05), 2.5), (between(music, 11.95, 12), 9.5)):
        assert level_db(edge) < level_db(between(music, full - 0.2, full)) - 30


def test_the_mix_as_an_mp3_is_at_minus_16_and_as_long_as_the_speech(ffmpeg, track_of, speech):
    with track_of(speech).resampled(ffmpeg, RATE) as voice:
        with mix(voice, track_of(chord(5), RATE), Bed()) as track:
            mp3 = encode_mp3(ffmpeg, Levelled(track).blocks(), sample_rate=RATE)
        assert len(voice) == pytest.approx(speech.duration.total_seconds() * RATE, abs=2)
        heard = decoded(mp3)
        assert len(heard) == len(voice)

    assert integrated_loudness(heard, RATE) == pytest.approx(-16, abs=0.7)
    assert true_peak_db(heard) <= -1.0
    assert {(frame.bit_rate, frame.sample_rate) for frame in frames_of(mp3)} == {(192_000, 44_100)}


def test_loud_music_over_speech_does_not_clip(mixed):
    noise = np.random.default_rng(1).uniform(-1, 1, 10 * RATE)

    assert np.abs(mixed(spoken((0, 10), seconds=10), noise, Bed(volume_db=0, fade=NONE))).max() < 0.99


@pytest.mark.parametrize("music", [np.zeros(0), np.zeros(1), np.zeros(RATE), np.ones(1) * 0.5, np.ones(7) * 0.5])
def test_silent_and_tiny_music_leaves_the_speech_alone(mixed, music):
    speech = spoken((0.5, 3), seconds=4)

    whole = mixed(speech, music, Bed(volume_db=-60))

    assert np.corrcoef(whole, speech)[0, 1] > 0.999


def test_mixing_stops_between_blocks(track_of):
    with pytest.raises(Stopped):
        mix(track_of(np.zeros(RATE), RATE), track_of(chord(1), RATE), Bed(), stop=lambda: True)


# Fades.


def test_music_fades_in_and_out_and_is_gone_at_the_end(mixed):
    speech = spoken((4, 5), seconds=12)

    music = band(mixed(speech, chord(12), Bed(fade=timedelta(seconds=2), duck=False)), 0, 1_500)

    full = level_db(between(music, 6, 8))
    rising = [level_db(between(music, at, at + 0.2)) for at in np.arange(0, 2, 0.2)]
    falling = [level_db(between(music, at, at + 0.2)) for at in np.arange(10, 12, 0.2)]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)
    assert level_db(between(music, 0.9, 1.1)) - full == pytest.approx(-6, abs=1)  # half way: half
    assert level_db(between(music, 2.1, 3)) == pytest.approx(full, abs=0.5)
    assert level_db(between(music, 11.98, 12)) < full - 40


# Loops.


@pytest.mark.parametrize("seconds", [0.4, 3.0, 9.7])
def test_a_loop_has_no_click_and_no_hole_at_its_seams(track_of, seconds):
    music = sine(220, seconds) + sine(311.1, seconds)

    with looped(track_of(music, RATE), needed=30 * RATE) as loop:
        long = loop.read(0, 30 * RATE) / 32_767

    # A click is a jump in the samples, larger than any inside of the music.
    assert np.abs(np.diff(long)).max() <= 1.45 * np.abs(np.diff(music)).max()
    assert np.abs(np.diff(long, 2)).max() <= 1.6 * np.abs(np.diff(music, 2)).max()
    levels = [level_db(between(long, at, at + 0.1)) for at in np.arange(0, 29.9, 0.1)]
    assert min(levels) > level_db(music) - 6


def test_longer_music_is_trimmed_and_plays_from_its_beginning(mixed):
    speech = spoken((4.5, 5), seconds=5)
    music = np.concatenate([sine(300, 3), sine(600, 60)])

    whole = mixed(speech, music, Bed(fade=NONE, duck=False))

    assert level_db(band(between(whole, 0.5, 2.5), 290, 310)) > level_db(band(between(whole, 0.5, 2.5), 590, 610)) + 40
    assert level_db(band(between(whole, 3.5, 4.4), 590, 610)) > level_db(band(between(whole, 3.5, 4.4), 290, 310)) + 20
