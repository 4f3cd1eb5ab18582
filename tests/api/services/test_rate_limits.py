"""Rate limits, as an account meets them."""

import asyncio
import time
from uuid import uuid4

import pytest
import redis
import redis.asyncio
from http_service import Answer, Service, Start
from manual_worker import ManualWorker
from payers import Payer, open_account

from pipeline.database import Database
from pipeline.limits.counts import SharedCounts, Use
from pipeline.limits.rate_limits import NO_LIMIT


@pytest.fixture
def free(api_database: Database) -> Payer:
    """An account that may make 10 requests a minute and 100 a day."""
    return open_account(api_database, tier="free")


def limit_and_left(answer: Answer) -> tuple[int, int]:
    return int(answer.headers["x-ratelimit-limit"]), int(answer.headers["x-ratelimit-remaining"])


def test_requests_count_down_to_a_refusal(service: Service, free: Payer) -> None:
    answers = [service.post("/echo", {"text": "hi"}, free.api_key, Prefer="wait=0") for _ in range(11)]
    assert [answer.status for answer in answers] == [202] * 10 + [429]
    assert [limit_and_left(answer) for answer in answers] == [(10, left) for left in range(9, -1, -1)] + [(10, 0)]
    refused = answers[-1]
    assert (refused.code, refused.json["error"]) == ("rate_limit_exceeded", "Rate Limit Exceeded")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert time.time() < int(refused.headers["x-ratelimit-reset"]) <= time.time() + 61


def test_reads_do_not_count_and_say_where_an_account_stands(service: Service, free: Payer) -> None:
    for _ in range(12):
        assert limit_and_left(service.get("/jobs", free.api_key)) == (10, 10)
    assert limit_and_left(service.get("/usage", free.api_key)) == (10, 10)
    assert limit_and_left(service.post("/verify-key", {"api_key": free.api_key})) == (10, 10)


def test_refused_bodies_do_not_count(service: Service, free: Payer) -> None:
    for _ in range(12):
        assert service.post("/echo", {"text": ""}, free.api_key).status == 400
    assert limit_and_left(service.get("/jobs", free.api_key)) == (10, 10)


def test_refusals_say_where_an_account_stands(service: Service, api_database: Database) -> None:
    poor = open_account(api_database, tier="free", credits=3)
    named = {"Idempotency_Key": uuid4().hex, "Prefer": "respond-async"}
    answers = [
        service.post("/echo", {"text": ""}, poor.api_key),
        service.post("/echo", {"text": "", "api_key": poor.api_key}),
        service.post_bytes("/echo", b"{", poor.api_key),
        service.post_bytes("/echo", b"{}", poor.api_key, Content_Type="text/plain"),
        service.post("/echo", {"text": "hi"}, poor.api_key, **named),
        service.post("/echo", {"text": "ho"}, poor.api_key, **named),
        service.post("/echo", {"text": "ho"}, poor.api_key),
    ]
    assert [answer.status for answer in answers] == [400, 400, 400, 415, 202, 422, 402]
    assert [limit_and_left(answer) for answer in answers] == [(10, left) for left in (10, 10, 10, 10, 9, 8, 7)]
    assert "x-ratelimit-limit" not in service.post("/echo", {"text": ""}).headers


def test_what_is_given_back_after_midnight_leaves_no_debt(redis_url: str) -> None:
    use = Use("account:midnight", 0, 100, 3)

    async def give_back() -> None:
        async with redis.asyncio.Redis.from_url(redis_url) as client:
            counts = SharedCounts(client)
            await counts.give_back(use)
            assert await client.get(use.day_key) is None
            await counts.use(Use(use.name, 0, 100, 5))
            await counts.give_back(use)
            assert await client.get(use.day_key) == b"2"
            await counts.give_back(use)
            assert (await client.get(use.day_key), await client.ttl(use.day_key) > 0) == (b"0", True)

    asyncio.run(give_back())


def test_a_batch_is_admitted_while_one_is_left_and_then_counts_fully(service: Service, free: Payer) -> None:
    assert service.post("/many", {"items": 9}, free.api_key, Prefer="wait=0").status == 202
    assert service.post("/many", {"items": 50}, free.api_key, Prefer="wait=0").status == 202
    refused = service.post("/many", {"items": 1}, free.api_key, Prefer="wait=0")
    assert (refused.status, limit_and_left(refused)) == (429, (10, 0))


def test_a_day_is_counted_and_its_refusals_are_not(start: Start, api_database: Database, redis_url: str) -> None:
    payer = open_account(api_database, tier="pro")
    with start(LIMITS__PRO__PER_DAY="3", LIMITS__PRO__PER_MINUTE="100") as service:
        answers = [service.post("/echo", {"text": "hi"}, payer.api_key, Prefer="wait=0") for _ in range(5)]
        seconds = 86_400 - time.time() % 86_400
    assert [answer.status for answer in answers] == [202, 202, 202, 429, 429]
    assert limit_and_left(answers[0]) == (3, 2)
    assert int(answers[-1].headers["retry-after"]) == pytest.approx(seconds, abs=30)
    with redis.Redis.from_url(redis_url) as client:
        [day] = [key for key in client.scan_iter() if b":day:" in key]
        assert client.get(day) == b"3"


def test_a_replay_is_never_refused_and_takes_nothing_of_the_day(
    start: Start, api_database: Database, manual_worker: ManualWorker, redis_url: str
) -> None:
    payer = open_account(api_database, tier="pro")
    sent = {"Idempotency_Key": uuid4().hex}
    with start(LIMITS__PRO__PER_DAY="2", LIMITS__PRO__PER_MINUTE="100") as service:
        job_id = service.submit({"text": "hi"}, payer.api_key, **sent)
        assert service.submit({"text": "hi"}, payer.api_key, **sent) == job_id
        service.submit({"text": "ho"}, payer.api_key)
        assert service.post("/echo", {"text": "hm"}, payer.api_key).status == 429
        assert service.submit({"text": "hi"}, payer.api_key, **sent) == job_id
        assert service.post("/echo", {"text": "ho"}, payer.api_key, **sent).status == 429


def test_without_redis_a_process_counts_by_itself(service_without_redis: Service, free: Payer) -> None:
    answers = [service_without_redis.post("/echo", {"text": "hi"}, free.api_key, Prefer="wait=0") for _ in range(12)]
    assert [answer.status for answer in answers] == [202] * 10 + [429] * 2
    assert [limit_and_left(answer)[1] for answer in answers] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]


def test_a_tier_without_limits_says_so_in_the_same_headers(start: Start, api_database: Database) -> None:
    payer = open_account(api_database, tier="enterprise")
    with start(LIMITS__ENTERPRISE__PER_MINUTE="0") as service:
        answers = [
            service.get("/jobs", payer.api_key),
            service.post("/echo", {"text": "hi"}, payer.api_key, Prefer="respond-async"),
            service.post("/echo", {}, payer.api_key),
        ]
    assert [answer.status for answer in answers] == [200, 202, 400]
    assert {limit_and_left(answer) for answer in answers} == {(NO_LIMIT, NO_LIMIT)}
    assert all(abs(int(answer.headers["x-ratelimit-reset"]) - time.time()) < 600 for answer in answers)
