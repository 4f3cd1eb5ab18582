"""What is posted is carried out in its order, whatever becomes of what was before it."""

from pipeline.wakes.outbox import Outbox


def test_what_fails_costs_nothing_that_is_posted_after_it() -> None:
    sent: list[int] = []

    def fail() -> None:
        raise ZeroDivisionError

    outbox = Outbox("test")
    for send in (lambda: sent.append(1), fail, lambda: sent.append(2)):
        outbox.post(send)

    assert outbox.flush(within=10)
    assert sent == [1, 2]
