"""The Speech page of the dashboard: compare voices, and try every way of speaking a text."""

from api.try_pages import Bulk, Call, Trial, TryPage
from capabilities.speech.kinds.fields import CHARACTERS_PER_CREDIT
from capabilities.speech.kinds.music import MUSIC_CREDITS

RENAMED = {"voice_name": "voice"}
SOUND = "audio/*,video/*"


def _spoken(kind: str, label: str, method: str, saves: str, more_credits: int = 0) -> Trial:
    price = f"1 credit per started {CHARACTERS_PER_CREDIT:,} characters"
    call = Call(method, "text", RENAMED)
    return Trial(kind, label, price, call, saves, per_credit=CHARACTERS_PER_CREDIT, more_credits=more_credits)


TRY = TryPage(
    slug="speech",
    title="Speech",
    lead="Compare voices, and hear your text, or turn many texts into MP3s.",
    trials=(
        _spoken("speech", "A sound file", "speak", "output.wav"),
        _spoken("speech_batch", "A long sound file", "speak_long", "chapter.mp3"),
        _spoken("speech_stream", "Listen at once", "stream_speech", "stream.mp3"),
        _spoken("speech_with_music", "Text over music", "speak_with_music", "output_with_music.mp3", MUSIC_CREDITS),
        Trial(
            "add_music",
            "Music under a recording",
            f"{MUSIC_CREDITS} credit",
            Call("add_music", "audio"),
            saves="output_with_music.mp3",
        ),
    ),
    engines=("synthesis",),
    main=("text", "texts", "audio", "music", "speed", "language", "voice_name"),
    filled=("text",),
    # Browsers play only MP3 while it arrives.
    hidden=("source", "response_format"),
    labels={
        "voice_name": "Voice",
        "texts": "Many texts",
        "audio": "Recording",
        "plain_text": "Read pause marks aloud",
        "volume_gain_db": "Loudness",
        "timestamps": "Word times and subtitles",
        "duck": "Lower the music under speech",
    },
    abouts={
        "volume_gain_db": "In decibels; 0 leaves it as it is.",
        "pitch": "In semitones up or down; 0 leaves it as it is.",
        "timestamps": "Click a word to hear it, and save subtitles.",
    },
    accepts={"audio": SOUND, "music": SOUND, "texts": ".txt,.md,.markdown"},
    bulk=Bulk(
        "texts",
        "speech_batch",
        {
            "text": ("text", "script", "content", "body", "description"),
            "name": ("name", "file", "title", "id", "sku"),
            "voice_name": ("voice_name", "voice"),
            "language": ("language", "lang", "locale"),
        },
        {"name": "Name of the MP3"},
    ),
    template="speech.html",
    script="try_speech.js",
    submit="Speak",
    icon="audio-lines",
    order=1,
)
