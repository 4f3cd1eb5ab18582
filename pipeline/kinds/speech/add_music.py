"""Add music: background music is put under a recording that was not made here."""

from collections.abc import Sequence
from typing import Any, ClassVar

from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Response
from pipeline.kinds.speech.fields import mp3_response
from pipeline.kinds.speech.music import MUSIC_CREDITS, MusicFields


class AddMusicRequest(MusicFields):
    """How the music goes with the recording."""


class AddMusic(Kind[AddMusicRequest]):
    """POST /tts/add-music."""

    name = "add_music"
    queue = "synthesis"
    routes = ("/tts/add-music",)
    handler = "workers.handlers.speech.music:AddMusicHandler"
    unit = "recordings"
    summary = "Put background music under a recording; the answer is one MP3 as long as the recording."
    files = ("audio", "music")
    example: ClassVar[dict[str, Any]] = {"audio": "@speech", "music": "@music"}
    answer_type = "audio/mpeg"
    request = AddMusicRequest

    def parts(self, request: AddMusicRequest) -> list[Part]:
        """Return the request as one item."""
        return [Part(request.model_dump(exclude_unset=True), MUSIC_CREDITS)]

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the MP3."""
        return mp3_response(items[0], "output_with_music.mp3")
