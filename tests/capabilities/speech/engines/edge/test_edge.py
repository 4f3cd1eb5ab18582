"""The edge engine against a service on loopback that speaks its protocol, and its faults."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from edge_service import EdgeService, edge_service, spoken, spoken_mp3
from sound import samples_of, shift_in_semitones

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.edge.edge import Edge
from capabilities.speech.engines.edge.voices import VOICES_KEY
from capabilities.speech.voices.voices import VoiceUnknown
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from workers.engines import EngineUnavailable, Stopped
from workers.media.audio.pcm import Pcm

TEXT = "The quick brown fox jumps over the lazy dog, and nobody knows why it does."
VOICE = "en-US-GuyNeural"


@pytest.fixture(scope="module")
def running() -> Iterator[EdgeService]:
    with edge_service() as service:
        yield service


@pytest.fixture
def service(running) -> EdgeService:
    """The service, in order again, whatever the last test did to it."""
    running.fail(None)
    running.delay, running.most_open, running.refused, running.sent = 0.0, 0, 0, 0
    running.asked.clear()
    return running


def made(settings: Settings, folder: Path) -> Edge:
    settings.data = folder
    engine = Edge.from_settings(settings)
    # Without its thread: a test probes when it wants to.
    engine.breaker.start = lambda: None
    engine.setup()
    return engine


@pytest.fixture
def edge(service, tmp_path) -> Edge:
    """An engine that has reached the service."""
    engine = made(service.settings(), tmp_path)
    engine.breaker.check()
    assert engine.is_available()
    service.asked.clear()
    return engine


def likeness(one: Pcm, other: Pcm) -> float:
    """Return how alike the courses of two sounds' levels are: 1 is the same words at the same times."""

    def course(sound: Pcm) -> np.ndarray:
        samples, step = samples_of(sound), sound.sample_rate // 50
        return np.sqrt(np.mean(samples[: len(samples) // step * step].reshape(-1, step) ** 2, axis=1))

    a, b = course(one), course(other)
    shortest = min(len(a), len(b)) - 5
    return max(np.corrcoef(a[:shortest], b[lag : lag + shortest])[0, 1] for lag in range(5))


# Speaking.


def test_it_says_the_words_and_all_of_them(edge, service):
    sound = edge.speak(TEXT, voice=VOICE)

    original = spoken("en-US", 0, TEXT)
    assert sound.sample_rate == 24_000
    assert sound.duration.total_seconds() == pytest.approx(original.duration.total_seconds(), abs=0.15)
    assert likeness(original, sound) > 0.95
    assert service.asked == [(VOICE, 0, TEXT)]


def test_markup_in_the_text_is_read_and_not_obeyed(edge, service):
    edge.speak("a < b & c <break time='9s'/> d\x00\ud800", voice=VOICE)

    assert service.asked[0][2] == "a < b & c <break time='9s'/> d"


def test_voices_are_those_of_the_list_and_no_other_gets_into_the_markup(edge, service):
    assert [voice.id for voice in edge.voices()][:2] == ["en-US-EmmaMultilingualNeural", "en-GB-SoniaNeural"]
    assert len(edge.voices()) == 4
    assert edge.voices()[1].ssml_gender == "FEMALE"
    for evil in ("en-US-A'><break time='9s'/>Neural", "en-US-NobodyNeural", ""):
        with pytest.raises(VoiceUnknown):
            edge.speak("hello", voice=evil)
    assert not service.asked


@pytest.mark.parametrize(("speed", "rate"), [(0.25, -50), (0.5, -50), (1.25, 25), (2.0, 100), (4.0, 100)])
def test_speed_is_the_services_as_far_as_it_goes(edge, service, speed, rate):
    natural = spoken("en-US", 0, TEXT).duration.total_seconds()

    sound = edge.speak(TEXT, voice=VOICE, speed=speed)

    assert service.asked[0][1] == rate
    assert sound.duration.total_seconds() == pytest.approx(natural / speed, rel=0.05, abs=0.1)


@pytest.mark.parametrize("semitones", [-8, 5, 12])
def test_pitch_is_in_semitones_whoever_speaks(edge, semitones):
    plain, shifted = edge.speak(TEXT, voice=VOICE), edge.speak(TEXT, voice=VOICE, pitch=semitones)

    shift = shift_in_semitones(plain, shifted, voice_hertz=96, expected=semitones)
    assert shift == pytest.approx(semitones, abs=0.5)
    assert shifted.duration.total_seconds() == pytest.approx(plain.duration.total_seconds(), rel=0.02)


def test_a_text_of_signs_that_the_service_has_no_sound_for_is_nothing_to_speak(edge, service):
    service.fail("empty")

    with pytest.raises(NothingToSpeak):
        edge.speak("— … —", voice=VOICE)
    with pytest.raises(NothingToSpeak):
        edge.speak(" \n", voice=VOICE)
    assert edge.is_available()


def test_at_most_four_connections_are_open_at_once(edge, service):
    service.delay = 0.005
    with ThreadPoolExecutor(12) as threads:
        sounds = list(threads.map(lambda number: edge.speak(f"Number {number}. {TEXT}", voice=VOICE), range(12)))

    assert service.most_open == 4
    assert all(sound.duration.total_seconds() > 4 for sound in sounds)


def test_it_stops_within_a_moment(edge, service):
    service.delay = 0.2
    # Asked for ten times a second, and so wanted for half a second; all of it would take about a minute.
    looks = count()

    with pytest.raises(Stopped):
        edge.speak(TEXT * 8, voice=VOICE, stop=lambda: next(looks) > 5)

    assert next(looks) < 15
    assert service.sent < 100  # of about 300 pieces
    assert edge.is_available()


# Faults.


def patience(fault: str) -> dict[str, float]:
    """Return settings that wait for a service that stalls no longer than it takes to see that it does."""
    return {"stall_seconds": 1, "connect_seconds": 2} if fault.startswith("stall") else {}


@pytest.mark.parametrize("fault", ["forbidden", "stall", "cut", "empty", "noise", "gibberish", "short"])
def test_what_fails_once_is_tried_again(service, tmp_path, fault):
    spoken_mp3("en-US", 0, TEXT)  # there, when it is asked for by who has little patience
    engine = made(service.settings(**patience(fault)), tmp_path)
    engine.breaker.check()
    service.fail(fault, times=1)

    sound = engine.speak(TEXT, voice=VOICE)

    assert likeness(spoken("en-US", 0, TEXT), sound) > 0.95
    assert engine.is_available()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("forbidden", "HTTP 403"), ("too_many", "HTTP 429"), ("stall", "stopped answering"), ("cut", "broke off"),
        ("stall_at_start", "stopped answering"), ("empty", "no sound"), ("noise", "sound"),
        ("gibberish", "something else"), ("short", "less sound than it said"),
    ],
)  # fmt: skip
def test_what_fails_always_is_unavailable_with_its_reason_and_not_asked_again(service, tmp_path, fault, reason):
    engine = made(service.settings(**patience(fault)), tmp_path)
    engine.breaker.check()
    service.fail(fault)

    with pytest.raises(EngineUnavailable, match=reason) as raised:  # a stalled answer would last for ever
        engine.speak(TEXT, voice=VOICE)

    assert raised.value.status == 503
    assert raised.value.code == "engine_unavailable"
    assert not engine.is_available()
    asked = len(service.asked) + service.refused
    with pytest.raises(EngineUnavailable, match="leave the voice out"):
        engine.speak(TEXT, voice=VOICE)
    assert len(service.asked) + service.refused == asked


def test_how_long_to_wait_is_what_the_service_says(edge, service):
    service.fail("too_many")

    with pytest.raises(EngineUnavailable) as raised:
        edge.speak(TEXT, voice=VOICE)
    assert raised.value.retry_after.total_seconds() == 7
    assert service.refused == 1


def test_a_text_that_takes_longer_than_its_limit_is_given_up(service, tmp_path):
    hasty = made(service.settings(limit_seconds=1), tmp_path)
    hasty.breaker.check()
    service.delay = 0.1

    with pytest.raises(EngineUnavailable, match="too slow"):
        hasty.speak(TEXT, voice=VOICE)


def test_one_voice_without_sound_does_not_stop_the_others(edge, service):
    service.fail("empty", times=2)
    with pytest.raises(EngineUnavailable):
        edge.speak(TEXT, voice=VOICE)

    edge.breaker.check()

    assert edge.is_available()


# Reaching it.


def test_the_list_survives_a_restart_and_a_broken_file_does_not_matter(edge, service, tmp_path):
    service.fail("forbidden")
    again = made(service.settings(), tmp_path)

    assert again.voices() == edge.voices()
    assert not again.is_available()
    Artifacts(open_store(Settings(data=tmp_path))).put(VOICES_KEY, b'[{"id": 3}')
    assert made(service.settings(), tmp_path).voices() == []


def test_who_watches_is_told_of_voices_and_of_coming_and_going(service, tmp_path):
    engine = made(service.settings(), tmp_path)
    told: list[tuple[int, bool]] = []
    engine.watch(lambda: told.append((len(engine.voices()), engine.is_available())))

    engine.breaker.check()
    service.fail("too_many")
    with pytest.raises(EngineUnavailable):
        engine.speak(TEXT, voice=VOICE)

    assert told == [(4, False), (4, True), (4, False)]


def test_set_up_as_it_is_used_it_probes_by_itself(service, tmp_path):
    settings = service.settings()
    settings.data = tmp_path
    engine = Edge.from_settings(settings)
    reached = threading.Event()
    engine.watch(lambda: engine.is_available() and reached.set())

    engine.setup()

    assert reached.wait(60)
    engine.close()
