"""Turns: a lock that goes to whom waits longest, and that one can stop waiting for."""

import threading
import time
from collections.abc import Callable

import pytest

from pipeline.engine_settings import CaptioningSettings, DiffusionSettings, ModelSettings
from workers.engines import Stopped, never
from workers.engines.captioning.blip import Blip
from workers.engines.captioning.vlm import Vlm
from workers.engines.pictures import Brief
from workers.engines.pictures.diffusion.diffusion import Diffusion
from workers.engines.turns import FairLock, turn_of

#: Seconds that a thread may take to get somewhere, on the busiest machine.
PATIENCE = 60


def waiting_for(lock: FairLock, stop: Callable[[], bool], heard: list[str], name: str) -> threading.Thread:
    """Return a thread that stands in the queue."""

    def wait() -> None:
        try:
            with lock.unless(stop):
                heard.append(name)
        except Stopped:
            heard.append(f"{name} left")

    return queued(lock, wait)


def queued(lock: FairLock, run: Callable[[], object]) -> threading.Thread:
    """Return a thread that runs something, once that stands in a lock's queue."""
    before = len(lock._waiting)
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until = time.monotonic() + PATIENCE
    while len(lock._waiting) == before:
        assert time.monotonic() < until
        time.sleep(0.001)
    return thread


def test_who_waits_longest_is_next_and_who_leaves_the_queue_holds_nobody_up() -> None:
    lock, heard, leaves = FairLock(), [], threading.Event()

    with lock:
        threads = [
            waiting_for(lock, stop, heard, name)
            for name, stop in (("first", never), ("second", leaves.is_set), ("third", never))
        ]
        leaves.set()
        threads[1].join(PATIENCE)
        assert heard == ["second left"]
    for thread in threads:
        thread.join(PATIENCE)

    assert heard == ["second left", "first", "third"]
    with lock.unless(never):
        assert lock._is_taken
    assert not lock._is_taken


def test_who_fails_while_it_waits_leaves_the_queue() -> None:
    lock = FairLock()

    with lock, pytest.raises(ZeroDivisionError), lock.unless(lambda: bool(1 / 0)):
        pytest.fail("its turn had not come")

    assert not lock._waiting
    assert not lock._is_taken


def test_who_no_longer_wants_a_turn_that_has_come_passes_it_on() -> None:
    lock = FairLock()

    with pytest.raises(Stopped), lock.unless(lambda: True):
        pytest.fail("nobody wanted this")
    turn = lock._queue_up()
    late = lock._queue_up()
    lock._pass_on()
    lock._leave(late)  # it was handed the lock between its last look and now

    assert turn.is_set()
    assert not lock._is_taken


def blip_on(device: str) -> Blip:
    return Blip(CaptioningSettings(), ModelSettings(model="none", device=device))


def test_engines_on_one_gpu_take_turns_and_others_do_not() -> None:
    diffusion = Diffusion(DiffusionSettings(model="none", device="cuda:0"))
    on_gpu, on_another, on_processor = map(blip_on, ("cuda", "cuda:1", "cpu"))

    assert turn_of(on_gpu) is turn_of(diffusion)
    assert turn_of(on_another) is not turn_of(diffusion)
    assert turn_of(on_processor) is turn_of(on_processor)
    assert turn_of(on_processor) is not turn_of(Vlm(CaptioningSettings(), ModelSettings(model="none", device="cpu")))


def test_nothing_is_painted_on_a_gpu_that_describes() -> None:
    asked: list[str] = []

    class Pipeline:
        def __call__(self, **_: object) -> None:
            asked.append("painted")
            raise ValueError("no model is here")

    diffusion = Diffusion(DiffusionSettings(model="none", device="cuda:7"))
    diffusion._pipeline = Pipeline()
    brief = Brief("Tomatoes", "", "", (), "photographic", "en")

    with turn_of(blip_on("cuda:7")) as turn:
        painting = queued(turn, lambda: diffusion.paint(brief, count=1))
        assert asked == []
    painting.join(PATIENCE)

    assert asked == ["painted"]
