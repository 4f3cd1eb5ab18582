"""Rounds: one thread at a time makes them, and nobody asks in vain."""

import threading

import pytest

from workers.pool.rounds import Rounds


def test_who_asks_during_a_round_is_served_by_the_next_and_does_not_wait_for_it() -> None:
    made_by: list[threading.Thread] = []
    answers: list[bool] = []

    def make(_: None) -> bool:
        made_by.append(threading.current_thread())
        if len(made_by) == 1:
            other = threading.Thread(target=lambda: answers.append(rounds.ask(None)))
            other.start()
            other.join(timeout=60)
            assert not other.is_alive()
        return False

    rounds = Rounds(make)
    answers.append(rounds.ask(None))

    assert answers == [False, True]
    assert made_by == [threading.current_thread()] * 2


def test_a_round_may_call_for_another() -> None:
    left = [True, True, False]

    Rounds(lambda _: left.pop(0)).ask(None)

    assert left == []


def test_a_round_that_failed_keeps_nobody_from_the_one_asked_for_meanwhile() -> None:
    made = []

    def make(_: None) -> bool:
        made.append(len(made))
        if len(made) == 1:
            assert not rounds.ask(None)
            raise ValueError("nobody foresaw this")
        return False

    rounds = Rounds(make)
    with pytest.raises(ValueError, match="foresaw"):
        rounds.ask(None)
    assert made == [0, 1]
    assert rounds.ask(None)

    assert made == [0, 1, 2]
