"""OpenAPI paths of the speech family that are no kind's."""

from api.openapi.parts import errors, json_answer, object_of, parameter, ref, text
from api.openapi.paths import route

GET_VOICES = route(
    "get_voices",
    "synthesis",
    "The voices that can speak now; no key needed.",
    {
        "200": json_answer(
            object_of(voices={"type": "array", "items": ref("Voice")}, total={"type": "integer"}), "The voices."
        ),
        "304": {"description": "Not changed since the ETag in If-None-Match."},
        **errors("400"),
    },
    parameter("language", "query", text(), "A language or the start of one: en matches en-GB."),
    parameter("gender", "query", text(enum=["male", "female", "neutral"]), "The voice's gender."),
)
