"""Locks: one that goes to the thread that has waited longest, and which engines share one."""

import gc
import threading
import weakref
from collections.abc import Callable

import pytest
from waiting import wait_for

from capabilities.alt_text.engines.vlm import Vlm
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.engines.pictures.diffusion.diffusion import Diffusion
from capabilities.blog.settings import DiffusionSettings
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from workers.engines import Stopped, never
from workers.engines.locks import FairLock
from workers.engines.resources import Resources

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
    wait_for(lambda: len(lock._waiting) != before, seconds=PATIENCE)
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
        assert not lock._free
    assert lock._free


def test_who_no_longer_wants_a_turn_that_has_come_passes_it_on() -> None:
    lock = FairLock()

    with pytest.raises(Stopped), lock.unless(lambda: True):
        pytest.fail("nobody wanted this")
    turn = lock._queue_up()
    late = lock._queue_up()
    lock._pass_on()
    lock._leave(late)  # it was handed the lock between its last look and now

    assert turn.is_set()
    assert lock._free


def vlm_on(device: str) -> Vlm:
    return Vlm(CaptioningSettings(), ModelSettings(model="none", device=device))


def test_engines_on_one_gpu_take_turns_and_others_do_not() -> None:
    diffusion = Diffusion(DiffusionSettings(model="none", device="cuda:0"))
    on_gpu, on_another, on_processor = map(vlm_on, ("cuda", "cuda:1", "cpu"))

    lock_of = Resources(Settings()).lock_of
    assert lock_of(on_gpu) is lock_of(diffusion)
    assert lock_of(on_another) is not lock_of(diffusion)
    assert lock_of(on_processor) is lock_of(on_processor)
    assert lock_of(on_processor) is not lock_of(Vlm(CaptioningSettings(), ModelSettings(model="none", device="cpu")))


def test_an_engine_that_is_exchanged_is_not_kept_for_its_lock() -> None:
    class Engine:
        places = 2

    resources, engine = Resources(Settings()), Engine()
    kept = weakref.ref(engine)
    assert resources.lock_of(engine) is resources.lock_of(engine)
    del engine
    gc.collect()
    assert kept() is None
    assert not resources._made
