"""Voices: the names that a client may offer its users; Open WebUI and Home Assistant ask for them."""

import falcon.asgi
from pydantic import BaseModel

from api.services.resource import Resource
from api.work.answers import show_json
from capabilities.speech.voices.offered_voices import offered_voices
from capabilities.speech.voices.voice_aliases import voice_aliases


class VoiceName(BaseModel):
    """A voice, by what is sent as `voice` and what people are shown."""

    id: str
    name: str


class VoiceNames(BaseModel):
    """OpenAI's names, then the voices that can speak now."""

    voices: list[VoiceName]


class SpeechVoices(Resource):
    """GET /v1/audio/voices; needs no key, as Open WebUI sends none."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with all voices; the natural ones first, as a list of 300 is read from its start."""
        ready = offered_voices(await self._services.offer_cache.offers()).ready
        names = [VoiceName(id=name, name=name.title()) for name in voice_aliases()]
        names += [
            VoiceName(id=voice.id, name=f"{voice.display_name} ({voice.language_codes[0]})")
            for voice in sorted(ready, key=lambda voice: voice.quality != "natural")
        ]
        show_json(resp, VoiceNames(voices=names).model_dump(mode="json"))
