"""Speech with music: a text is spoken over background music and comes back as one MP3."""

from collections.abc import Sequence

from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, NewItem, Response
from pipeline.kinds.speech.batch import MAX_CHARACTERS, SpeechBatchRequest
from pipeline.kinds.speech.fields import AudioFile, audio_response, check_speech, speech_credits
from pipeline.kinds.speech.music import MUSIC_CREDITS, MusicFields
from pipeline.offers import Offers


class SpeechWithMusicRequest(SpeechBatchRequest, MusicFields):
    """What is to be spoken, how, and how the music goes with it."""


class SpeechWithMusic(Kind[SpeechWithMusicRequest, SpeechWithMusicRequest, AudioFile]):
    """POST /tts/with-music."""

    name = "speech_with_music"
    queue = "synthesis"
    routes = ("/tts/with-music",)
    handler = "workers.handlers.speech.music:SpeechWithMusicHandler"
    unit = "chunks"
    summary = "Speak a text over background music; the answer is one MP3 as long as the speech."
    files = ("music",)
    example = {
        "text": "News of the day. The music goes down while I speak.",
        "music": "@music",
    }
    bulky = frozenset({"text"})
    answer = Answer("audio/mpeg")

    def check(self, request: SpeechWithMusicRequest, offers: Offers) -> None:
        """Refuse a text that is empty or too long, and a voice or language that no engine has."""
        check_speech(
            request,
            offers,
            route="/tts/with-music",
            max_characters=MAX_CHARACTERS,
            instead="Split the text into parts and send them one by one.",
        )

    def items(self, request: SpeechWithMusicRequest) -> list[NewItem[SpeechWithMusicRequest]]:
        """Return the whole request as one item, at the price of the speech and the music."""
        return [NewItem(request, speech_credits(len(request.text)) + MUSIC_CREDITS)]

    def response(self, job: Job, items: Sequence[FinishedItem[SpeechWithMusicRequest, AudioFile]]) -> Response:
        """Return the MP3."""
        return audio_response(items[0].delivered, "audio/mpeg", "output_with_music.mp3")
