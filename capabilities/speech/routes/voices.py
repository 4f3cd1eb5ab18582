"""Voices: the list of those that can speak now."""

import hashlib

import falcon.asgi
from pydantic_core import to_json

from api.http.queries import ParameterInvalid, read_choice, read_text
from api.services.resource import Resource
from capabilities.speech.voices.offered_voices import offered_voices
from capabilities.speech.voices.voices import QUALITIES, filter_voices

GENDERS = ("male", "female", "neutral")
#: The list changes when a pool is set up anew; a minute late is soon enough.
CACHE_CONTROL = "public, max-age=60"


class Voices(Resource):
    """GET /tts/voices."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the voices that match the query; needs no key."""
        language = read_text(req, "language", longest=35)
        gender = read_text(req, "gender", longest=7)
        if gender is not None and gender.lower() not in GENDERS:
            raise ParameterInvalid("gender", gender, f"send one of {', '.join(GENDERS)}.")
        quality = read_choice(req, "quality", QUALITIES)
        local = read_choice(req, "local", ("true", "false"))
        offers = await self._services.offer_cache.offers()
        voices = filter_voices(
            offered_voices(offers).ready,
            language=language,
            gender=gender,
            quality=quality,
            local=None if local is None else local == "true",
        )
        body = to_json({"voices": voices, "total": len(voices)})
        resp.cache_control = [CACHE_CONTROL]
        resp.etag = hashlib.sha256(body).hexdigest()[:32]
        resp.content_type = falcon.MEDIA_JSON
        if req.if_none_match and ("*" in req.if_none_match or resp.etag.strip('"') in req.if_none_match):
            resp.status = falcon.HTTP_304
        else:
            resp.data = body

    on_head = on_get
