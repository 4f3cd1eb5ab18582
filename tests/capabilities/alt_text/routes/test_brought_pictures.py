"""Pictures that a request brings itself: as a file of a form, or as a data URL."""

import base64

import pytest
from http_service import Answer, Service, form
from test_alt_text_routes import AltTexts, alt

__all__ = ["alt"]

PICTURE = b"\x89PNG of sorts"
DATA = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"


def send(alt: AltTexts, *parts: tuple[str, bytes, str | None], route: str = "/generate") -> Answer:
    body, content_type = form(*parts)
    return alt.service.post_bytes(route, body, alt.client.api_key, Prefer="respond-async", Content_Type=content_type)


def test_a_file_of_a_form_is_described_with_its_fields(alt: AltTexts) -> None:
    answer = send(alt, ("image", PICTURE, "chair.png"), ("mode", b"seo", None),
        ("keywords", b"chair, oak ,red", None), ("allow_decorative", b"true", None),
    )  # fmt: skip
    assert answer.status == 202, answer.body
    (item,) = alt.work()

    assert item.input["image_url"] == "upload:image"
    assert item.input["hints"]["keywords"] == ["chair", "oak", "red"]
    assert item.input["hints"]["allow_decorative"] is True
    result = alt.get(f"/jobs/{answer.json['id']}/result")
    assert (result.status, result.json["credits_used"]) == (200, 1)


def test_a_form_needs_a_picture_and_takes_one_only(alt: AltTexts) -> None:
    assert (none := send(alt, ("mode", b"seo", None))).status == 400
    assert none.json["details"][0]["field"] == "image_url"
    both = send(alt, ("image", PICTURE, "a.png"), ("image_url", b"https://a.test/b.png", None))
    assert (both.status, both.json["details"][0]["field"]) == (400, "image")


def test_the_mark_of_a_file_is_refused_where_no_file_came(alt: AltTexts) -> None:
    as_json = alt.post("/generate", {"image_url": "upload:image"})
    as_form = send(alt, ("image_url", b"upload:image", None))
    another = alt.post("/generate", {"image_url": "upload:audio"})
    listed = alt.post("/batch", {"images": [{"image_url": "upload:image.0"}]})

    for answer in (as_json, as_form, another, listed):
        assert (answer.status, answer.json["details"][0]["code"]) == (400, "file_missing"), answer.body


def test_a_data_url_is_described_and_not_kept_with_the_job(alt: AltTexts) -> None:
    assert alt.ask("/generate", {"image_url": DATA}).status == 200
    batch = alt.ask("/batch", {"images": [{"image_url": DATA, "keywords": ["chair"]}]})
    assert batch.json["successful"] == 1


def test_a_form_may_repeat_its_picture_and_each_keeps_the_name_of_its_file(alt: AltTexts) -> None:
    answer = send(alt, ("image", PICTURE, "cosy/chair.png"), ("image", PICTURE, "table.png"), ("mode", b"all", None),
        ("keywords", b"oak, red", None), route="/batch",
    )  # fmt: skip
    assert (answer.status, answer.json["progress"]["total"]) == (202, 2), answer.body
    items = alt.work()

    assert [item.input["image_url"] for item in items] == ["upload:image.0", "upload:image.1"]
    assert all(item.input["hints"]["keywords"] == ["oak", "red"] for item in items)
    results = alt.get(f"/jobs/{answer.json['id']}/result").json["results"]
    assert [result["name"] for result in results] == ["chair.png", "table.png"]
    assert all(result["long_alt_text"] for result in results)


def test_a_data_url_may_hold_ten_megabytes(alt: AltTexts) -> None:
    def sent(size: int) -> Answer:
        url = "data:image/png;base64," + "A" * (size * 4 // 3)
        return alt.post("/generate", {"image_url": url}, Prefer="respond-async")

    assert sent(9_999_999).status == 202
    assert (sent(10_100_000).status, sent(10_100_000).code) == (400, "image_too_large")


@pytest.mark.parametrize("url", ["data:,x", "data:text/html;base64,PGI+", "data:image/png,abc"])
def test_another_kind_of_data_is_no_picture(alt: AltTexts, url: str) -> None:
    answer = alt.post("/generate", {"image_url": url})

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
def test_hints_have_their_limits(alt: AltTexts, field: str, value: object) -> None:
    answer = alt.post("/generate", {"image_url": "https://a.test/b.png", field: value})

    assert answer.status == 400
    assert answer.json["details"][0]["field"].startswith(field)


def test_a_form_is_in_the_document_beside_json(service: Service) -> None:
    content = service.get("/openapi.json").json["paths"]["/generate"]["post"]["requestBody"]["content"]

    assert set(content) == {"application/json", "multipart/form-data"}
    assert "image" in content["multipart/form-data"]["schema"]["required"]
    assert "image_url" not in content["multipart/form-data"]["schema"]["required"]
