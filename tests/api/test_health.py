"""Health, metrics and logs, for operators."""

from pathlib import Path

from http_service import Service, Start, start_service
from manual_worker import ManualWorker
from payers import Payer
from prometheus_client.parser import text_string_to_metric_families
from servers import start_redis
from waiting import wait_for

from pipeline.operations.metrics import Metrics


def samples(service: Service) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = service.get("/metrics")
    assert answer.status == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def test_a_process_that_lives_says_so(service: Service) -> None:
    assert (service.get("/healthz").status, service.get("/healthz").json) == (200, {"status": "alive"})


def test_a_service_that_has_all_it_needs_is_ready(service: Service) -> None:
    assert (service.get("/readyz").status, service.get("/readyz").json) == (200, {"status": "ready"})


def test_a_service_without_its_queue_says_what_is_missing_and_lives(service_without_redis: Service) -> None:
    answer = service_without_redis.get("/readyz")
    assert (answer.status, answer.json["missing"]) == (503, ["queue"])
    assert service_without_redis.get("/healthz").status == 200


def test_a_service_without_its_database_says_so_and_still_lists_voices(tmp_path: Path, redis_url: str) -> None:
    nowhere = f"postgresql://nobody@/nothing?host={tmp_path}"
    with start_service(tmp_path / "service", database_url=nowhere, redis_url=redis_url) as service:
        assert service.get("/readyz").json["missing"] == ["database"]
        assert service.get("/tts/voices").json["total"] > 50
        answer = service.post("/echo", {"text": "hi"}, "pr_live_" + "0" * 38)
        assert answer.status == 401  # a malformed key is told without asking
        assert service.get("/metrics").status == 200


def test_requests_are_counted_by_route_method_and_status(start: Start, client: Payer, tmp_path: Path) -> None:
    # A Redis of its own: whatever else is counted there may be on its way yet.
    with start_redis(tmp_path / "redis") as url, start(redis_url=url) as service:
        job_id = service.submit({"text": "hi"}, client.api_key)
        service.get(f"/jobs/{job_id}", client.api_key)
        service.get("/nowhere")

        def counted(route: str, method: str, status: str) -> float:
            labels = (("method", method), ("route", route), ("status", status))
            return samples(service).get(("pressroom_http_requests_total", labels), 0.0)

        made = [("/echo", "POST", "202"), ("/jobs/{job_id}", "GET", "200"), ("unmatched", "GET", "404")]
        # A handing over may just be on its way
        wait_for(lambda: [counted(*one) for one in made] == [1, 1, 1], seconds=60, about=lambda: samples(service))
        assert not any(job_id in str(key) for key in samples(service))


def test_what_clients_invent_is_no_label(service: Service) -> None:
    service.request("BREW", "/echo")
    service.request("BREW", "/nowhere")
    for route in ("/echo", "unmatched"):
        wanted = {("method", "OTHER"), ("route", route)}
        wait_for(lambda wanted=wanted: any(wanted <= set(labels) for _, labels in samples(service)))
    assert "BREW" not in str(samples(service))


def test_counts_of_all_processes_are_one(start: Start, service: Service, redis_url: str) -> None:
    with start(processes=2) as other:
        for _ in range(20):
            other.get("/usage")
        key = ("pressroom_http_requests_total", (("method", "GET"), ("route", "/usage"), ("status", "401")))
        wait_for(lambda: samples(service).get(key, 0) >= 20, about=lambda: samples(service))


def test_queues_are_measured(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    service.submit({"items": 3}, client.api_key, "/many")
    found = samples(service)
    assert found["pressroom_queue_items", (("queue", "echo"), ("state", "ready"))] == 3
    assert found["pressroom_queue_oldest_seconds", (("queue", "echo"),)] > 0
    assert found["pressroom_open_jobs", ()] >= 1
    manual_worker.work()
    assert samples(service)["pressroom_queue_items", (("queue", "echo"), ("state", "ready"))] == 0


def test_a_histogram_of_a_worker_is_shown_with_the_others(service: Service, manual_worker: ManualWorker) -> None:
    metrics = Metrics()
    for seconds in (0.003, 0.2, 4_000):
        metrics.observe("pressroom_item_run_seconds", seconds, kind="histogram")
    metrics.flush(manual_worker.client)
    found = samples(service)
    labels = ("kind", "histogram")

    def bucket(bound: str) -> float:
        return found["pressroom_item_run_seconds_bucket", (labels, ("le", bound))]

    assert [bucket("0.005"), bucket("0.1"), bucket("0.25"), bucket("1800.0"), bucket("+Inf")] == [1, 1, 2, 2, 3]
    assert found["pressroom_item_run_seconds_count", (labels,)] == 3
    assert found["pressroom_item_run_seconds_sum", (labels,)] == 4_000.203


def test_a_request_is_one_line_without_its_query(service: Service, client: Payer) -> None:
    answer = service.get(f"/jobs?api_key={client.api_key}&limit=3")
    line = service.wait_for_line(request_id=answer.headers["x-request-id"])
    assert line["event"] == "request answered"
    assert (line["method"], line["path"], line["status"]) == ("GET", "/jobs", 200)
    assert line["account_id"] == str(client.account_id)
    assert line["seconds"] > 0
    after = service.get("/healthz").headers["x-request-id"]
    service.wait_for_line(request_id=after)  # one process writes: what it had to say before is there
    assert sum(one.get("request_id") == line["request_id"] for one in service.lines()) == 1
