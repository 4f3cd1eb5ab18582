"""GET /tts/voices."""

from pathlib import Path

import pytest
from http_service import Service, start_service
from waiting import wait_for

from pipeline.database import Database
from pipeline.offers.offers import Offer, publish_offers


def test_voices_need_no_key_and_no_worker(service: Service) -> None:
    answer = service.get("/tts/voices")
    assert answer.status == 200
    assert answer.json["total"] == len(answer.json["voices"]) > 50
    assert set(answer.json["voices"][0]) == {
        *("id", "name", "language_codes", "ssml_gender", "natural_sample_rate_hertz", "display_name", "engine"),
        *("quality", "local", "is_slow"),
    }
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_voices_are_filtered_by_language_and_gender(service: Service) -> None:
    english = service.get("/tts/voices?language=en&gender=FEMALE").json["voices"]
    assert english
    assert all(any(code.startswith("en") for code in voice["language_codes"]) for voice in english)
    assert {voice["ssml_gender"] for voice in english} == {"FEMALE"}
    assert service.get("/tts/voices?language=tlh-XX").json == {"voices": [], "total": 0}


@pytest.mark.parametrize(
    "query", ["gender=robot", "quality=best", "local=1", "gender=", "language=", "language=" + "x" * 40, "language=%00"]
)
def test_a_wrong_filter_is_refused(service: Service, query: str) -> None:
    assert service.get(f"/tts/voices?{query}").status == 400


def test_a_list_that_has_not_changed_is_not_sent_again(service: Service) -> None:
    first = service.get("/tts/voices?language=de")
    again = service.get("/tts/voices?language=de", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert "max-age" in first.headers["cache-control"]
    assert service.get("/tts/voices?language=fr", If_None_Match=first.headers["etag"]).status == 200


def test_voices_are_those_that_the_pools_offer(
    database: Database, database_url: str, redis_url: str, tmp_path: Path
) -> None:
    natural = {
        "id": "v", "name": "v", "language_codes": ["xx"], "ssml_gender": "NEUTRAL", "natural_sample_rate_hertz": 8_000,
        "display_name": "V", "engine": "espeak", "quality": "natural", "local": False, "is_slow": False,
    }  # fmt: skip
    robotic = {**natural, "id": "o", "quality": "robotic", "local": True}
    newer = {**robotic, "breath": "deep"}  # a field of a later release
    # In a database of its own: the API that other tests share never hears of it.
    database.run(publish_offers([Offer("synthesis", "espeak", ready=True, content={"voices": [natural, newer]})]))
    with start_service(tmp_path / "service", database_url=database_url, redis_url=redis_url) as service:
        # The shipped list, until the pools have reported.
        wait_for(lambda: service.get("/tts/voices").json["total"] == 2)
        listed = service.get("/tts/voices").json
        assert listed["voices"] == [natural, robotic]
        assert service.get("/tts/voices?quality=natural").json["voices"] == [natural]
        assert service.get("/tts/voices?local=true").json["voices"] == [robotic]
        assert service.get("/tts/voices?local=false&quality=robotic").json["voices"] == []
