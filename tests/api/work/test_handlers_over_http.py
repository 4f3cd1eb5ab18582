"""A kind's own handler behind its route, with a worker in the test's hands."""

from api_kinds import Anything, Echo
from http_service import Service
from manual_worker import ManualWorker, by
from payers import Payer

from workers.handler import Done, Handler, Outcome, Task


class EchoHandler(Handler[Anything, Anything]):
    """Says a text backwards."""

    def carry_out(self, task: Task[Anything]) -> Outcome[Anything]:
        return Done(Anything(text=task.input.model_dump()["text"][::-1]), engine="mirror", credits=2)


def test_what_a_handler_returns_is_answered_and_charged(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "abc"}, client.api_key, "/echo")

    manual_worker.lanes = {Echo.name: 1}
    manual_worker.work(by(Echo(), EchoHandler(None)))

    answer = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (answer.status, answer.json) == (200, {"echo": {"text": "cba"}, "credits_used": 2})
    assert answer.headers["x-engine"] == "mirror"
