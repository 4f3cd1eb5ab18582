"""Add music: background music is put under a recording that was not made here."""

from collections.abc import Sequence

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Response
from pipeline.kinds.speech.fields import AudioFile, audio_response
from pipeline.kinds.speech.music import MUSIC_CREDITS, MusicFields


class AddMusicRequest(MusicFields):
    """How the music goes with the recording."""


class AddMusic(Kind[AddMusicRequest, AddMusicRequest, AudioFile]):
    """POST /tts/add-music."""

    name = "add_music"
    queue = "synthesis"
    routes = ("/tts/add-music",)
    handler = "workers.handlers.speech.music:AddMusicHandler"
    unit = "recordings"
    summary = "Put background music under a recording; the answer is one MP3 as long as the recording."
    files = ("audio", "music")
    example = {"audio": "@speech", "music": "@music"}
    answer = Answer("audio/mpeg")

    def items(self, request: AddMusicRequest) -> list[NewItem[AddMusicRequest]]:
        """Return the request as one item."""
        return [NewItem(request, MUSIC_CREDITS)]

    def response(self, job: Job, items: Sequence[FinishedItem[AddMusicRequest, AudioFile]]) -> Response:
        """Return the MP3."""
        return audio_response(items[0].delivered, "audio/mpeg", "output_with_music.mp3")
