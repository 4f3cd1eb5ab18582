"""Pictures that a request brings itself: as a file of a form, or as a data URL."""

import base64

import pytest
from http_service import Answer, Service, form
from manual_worker import ManualWorker
from payers import Payer
from test_alt_text_routes import ask, painter, work

__all__ = ["painter"]

PICTURE = b"\x89PNG of sorts"
DATA = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"


def send(service: Service, client: Payer, *parts: tuple[str, bytes, str | None], route: str = "/generate") -> Answer:
    body, content_type = form(*parts)
    return service.post_bytes(route, body, client.api_key, Prefer="respond-async", Content_Type=content_type)


def test_a_file_of_a_form_is_described_with_its_fields(service: Service, client: Payer, painter: ManualWorker) -> None:
    answer = send(
        service, client, ("image", PICTURE, "chair.png"), ("mode", b"seo", None),
        ("keywords", b"chair, oak ,red", None), ("allow_decorative", b"true", None),
    )  # fmt: skip
    assert answer.status == 202, answer.body
    (item,) = work(painter)

    assert item.input["image_url"] == "upload:image"
    assert item.input["hints"]["keywords"] == ["chair", "oak", "red"]
    assert item.input["hints"]["allow_decorative"] is True
    result = service.get(f"/jobs/{answer.json['id']}/result", client.api_key)
    assert (result.status, result.json["credits_used"]) == (200, 1)


def test_a_form_needs_a_picture_and_takes_one_only(service: Service, client: Payer, painter: ManualWorker) -> None:
    assert (none := send(service, client, ("mode", b"seo", None))).status == 400
    assert none.json["details"][0]["field"] == "image_url"
    both = send(service, client, ("image", PICTURE, "a.png"), ("image_url", b"https://a.test/b.png", None))
    assert (both.status, both.json["details"][0]["field"]) == (400, "image")


def test_the_mark_of_a_file_is_refused_where_no_file_came(service: Service, client: Payer) -> None:
    as_json = service.post("/generate", {"image_url": "upload:image"}, client.api_key)
    as_form = send(service, client, ("image_url", b"upload:image", None))
    another = service.post("/generate", {"image_url": "upload:audio"}, client.api_key)
    listed = service.post("/batch", {"images": [{"image_url": "upload:image.0"}]}, client.api_key)

    for answer in (as_json, as_form, another, listed):
        assert (answer.status, answer.json["details"][0]["code"]) == (400, "file_missing"), answer.body


def test_a_data_url_is_described_and_not_kept_with_the_job(
    service: Service, client: Payer, painter: ManualWorker
) -> None:
    assert ask(service, client, painter, "/generate", {"image_url": DATA}).status == 200
    batch = ask(service, client, painter, "/batch", {"images": [{"image_url": DATA, "keywords": ["chair"]}]})
    assert batch.json["successful"] == 1


def test_a_form_may_repeat_its_picture_and_each_keeps_the_name_of_its_file(
    service: Service, client: Payer, painter: ManualWorker
) -> None:
    answer = send(
        service, client, ("image", PICTURE, "cosy/chair.png"), ("image", PICTURE, "table.png"), ("mode", b"all", None),
        ("keywords", b"oak, red", None), route="/batch",
    )  # fmt: skip
    assert (answer.status, answer.json["progress"]["total"]) == (202, 2), answer.body
    items = work(painter)

    assert [item.input["image_url"] for item in items] == ["upload:image.0", "upload:image.1"]
    assert all(item.input["hints"]["keywords"] == ["oak", "red"] for item in items)
    results = service.get(f"/jobs/{answer.json['id']}/result", client.api_key).json["results"]
    assert [result["name"] for result in results] == ["chair.png", "table.png"]
    assert all(result["long_alt_text"] for result in results)


def test_a_data_url_may_hold_ten_megabytes(service: Service, client: Payer, painter: ManualWorker) -> None:
    def sent(size: int) -> Answer:
        url = "data:image/png;base64," + "A" * (size * 4 // 3)
        return service.post("/generate", {"image_url": url}, client.api_key, Prefer="respond-async")

    assert sent(9_999_999).status == 202
    assert (sent(10_100_000).status, sent(10_100_000).code) == (400, "image_too_large")


@pytest.mark.parametrize("url", ["data:,x", "data:text/html;base64,PGI+", "data:image/png,abc"])
def test_another_kind_of_data_is_no_picture(service: Service, client: Payer, painter: ManualWorker, url: str) -> None:
    answer = service.post("/generate", {"image_url": url}, client.api_key)

    assert (answer.status, answer.code) == (400, "image_url_invalid")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keywords", ["a"] * 7),
        ("keywords", ["a" * 61]),
        ("context", "x" * 2_001),
        ("page_title", "x" * 301),
        ("keywords", 3),
    ],
)
def test_hints_have_their_limits(
    service: Service, client: Payer, painter: ManualWorker, field: str, value: object
) -> None:
    answer = service.post("/generate", {"image_url": "https://a.test/b.png", field: value}, client.api_key)

    assert answer.status == 400
    assert answer.json["details"][0]["field"].startswith(field)


def test_a_form_is_in_the_document_beside_json(service: Service) -> None:
    content = service.get("/openapi.json").json["paths"]["/generate"]["post"]["requestBody"]["content"]

    assert set(content) == {"application/json", "multipart/form-data"}
    assert "image" in content["multipart/form-data"]["schema"]["required"]
    assert "image_url" not in content["multipart/form-data"]["schema"]["required"]
