"""Music: puts background music under a spoken text or under a recording."""

from types import MappingProxyType

from pydantic import Field

from capabilities.speech.kinds.batch import MAX_CHARACTERS, SpeechBatchRequest
from capabilities.speech.kinds.fields import AudioFile, Mp3Fields, OneFile, SpeechKind, SpokenInput
from capabilities.speech.kinds.timestamps import TimedSpeech
from pipeline.kind import Answer, Kind, NewItem, Request

#: The price of the music, on top of the speech (docs/api.md, Limits).
MUSIC_CREDITS = 1


class MusicFields(Request):
    """The volume, fades and timing of the music."""

    music_volume: float = Field(
        -20, ge=-60, le=0, description="Decibels; lower is quieter. Recommended: -20, well audible, to -30."
    )
    fade_duration: float = Field(2_000, ge=0, le=10_000, description="Milliseconds of fade in and fade out.")
    duck: bool = Field(True, description="Lower the music while someone speaks.")
    music_intro: float = Field(0, ge=0, le=30, description="Seconds of music before the voice.")
    music_outro: float = Field(0, ge=0, le=30, description="Seconds of music after the voice.")


class SpeechWithMusicRequest(SpeechBatchRequest, MusicFields):
    """A text, its voice and the music under it."""


class SpeechWithMusicInput(SpeechWithMusicRequest, SpokenInput):
    """A SpeechWithMusicRequest as it is stored."""


class SpeechWithMusic(SpeechKind, OneFile, Kind[SpeechWithMusicRequest, SpeechWithMusicInput, AudioFile]):
    """POST /tts/with-music."""

    name = "speech_with_music"
    routes = ("/tts/with-music",)
    handler = "capabilities.speech.handlers.music:SpeechWithMusicHandler"
    summary = "Speak a text over background music as one MP3."
    files = ("music",)
    example = {"text": "News of the day. The music goes down while I speak.", "music": "@music"}
    max_characters = MAX_CHARACTERS
    more_credits = MUSIC_CREDITS
    answer = Answer("audio/mpeg", model=TimedSpeech)
    filename = "output_with_music.mp3"


class AddMusicRequest(MusicFields, Mp3Fields):
    """The music under a recording."""


class AddMusic(OneFile, Kind[AddMusicRequest, AddMusicRequest, AudioFile]):
    """POST /tts/add-music."""

    name = "add_music"
    queue = "synthesis"
    routes = ("/tts/add-music",)
    handler = "capabilities.speech.handlers.music:AddMusicHandler"
    unit = "recordings"
    summary = "Put background music under a recording, as one MP3."
    files = ("audio", "music")
    example = {"audio": "@speech", "music": "@music"}
    filename = "output_with_music.mp3"
    origins = MappingProxyType({"": "composed"})

    def items(self, request: AddMusicRequest) -> list[NewItem[AddMusicRequest]]:
        return [NewItem(request, MUSIC_CREDITS)]
