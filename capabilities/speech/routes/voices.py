"""Voices: the list of those that can speak now."""

import hashlib

import falcon.asgi
from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json

from api.http.operations import Operation, Reply
from api.http.parameters import choice, flag, text
from api.services.resource import Resource
from capabilities.speech.voices.offered_voices import offered_voices
from capabilities.speech.voices.voices import QUALITIES, Voice

LANGUAGE = text("language", "A language or its start: en matches en-GB.", longest=35)
GENDER = choice("gender", "The voice's gender.", ("male", "female", "neutral"), ignores_case=True)
QUALITY = choice("quality", "How the voice sounds: human or robotic.", QUALITIES)
LOCAL = flag("local", "True for voices whose texts stay on the server's own machines.")
#: The list changes when a pool is set up anew; a minute late is soon enough.
CACHE_CONTROL = "public, max-age=60"


class VoiceList(BaseModel):
    """The voices that can speak now."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    voices: list[Voice]
    total: int


class Voices(Resource):
    """GET /tts/voices."""

    @Operation(
        id="get_voices",
        tag="synthesis",
        summary="List the voices that can speak now. No key needed.",
        parameters=(LANGUAGE, GENDER, QUALITY, LOCAL),
        replies={
            200: Reply("The voices.", VoiceList),
            304: Reply("Unchanged since the ETag in If-None-Match."),
        },
        errors=(400,),
        is_open=True,
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        language, gender = LANGUAGE.read(req), GENDER.read(req) or None
        quality, local = QUALITY.read(req) or None, LOCAL.read(req)
        offers = await self._services.offer_cache.offers()
        voices = [
            voice
            for voice in offered_voices(offers).ready
            if (language is None or voice.speaks(language))
            and (gender is None or voice.ssml_gender == gender.upper())
            and (quality is None or voice.quality == quality)
            and (local is None or voice.local == local)
        ]
        body = to_json(VoiceList(voices=voices, total=len(voices)))
        resp.cache_control = [CACHE_CONTROL]
        resp.etag = hashlib.sha256(body).hexdigest()[:32]
        resp.content_type = falcon.MEDIA_JSON
        if req.if_none_match and ("*" in req.if_none_match or resp.etag.strip('"') in req.if_none_match):
            resp.status = falcon.HTTP_304
        else:
            resp.data = body
