"""The Speech page of the dashboard: compare voices, and try every way of speaking a text."""

from api.try_pages import Call, Trial, TryPage
from capabilities.speech.kinds.fields import CHARACTERS_PER_CREDIT
from capabilities.speech.kinds.music import MUSIC_CREDITS

PRICE = f"1 credit per started {CHARACTERS_PER_CREDIT:,} characters"
RENAMED = {"voice_name": "voice"}
SOUND = "audio/*,video/*"


TRY = TryPage(
    slug="speech",
    title="Speech",
    lead="Compare voices, and hear your text.",
    trials=(
        Trial("speech", "A short text, as WAV", PRICE, Call("speak", "text", RENAMED), saves="output.wav"),
        Trial("speech_batch", "A long text, as MP3", PRICE, Call("speak_long", "text", RENAMED), saves="chapter.mp3"),
        Trial(
            "speech_stream",
            "A stream, played while it is spoken",
            f"{PRICE} spoken",
            Call("stream_speech", "text", RENAMED),
            saves="stream.mp3",
        ),
        Trial(
            "speech_with_music",
            "A text over music",
            f"{PRICE}, plus {MUSIC_CREDITS} for the music",
            Call("speak_with_music", "text", RENAMED),
            saves="output_with_music.mp3",
        ),
        Trial(
            "add_music",
            "Music under a recording",
            f"{MUSIC_CREDITS} credit",
            Call("add_music", "audio"),
            saves="output_with_music.mp3",
        ),
    ),
    engines=("synthesis",),
    main=("text", "audio", "music", "speed", "language", "voice_name"),
    filled=("text",),
    # Browsers play only MP3 while it arrives.
    hidden=("source", "response_format"),
    labels={
        "voice_name": "Voice",
        "audio": "Recording",
        "plain_text": "Read pause marks aloud",
        "volume_gain_db": "Gain",
        "timestamps": "Word times and subtitles",
        "duck": "Lower the music under speech",
    },
    accepts={"audio": SOUND, "music": SOUND},
    template="speech.html",
    script="try_speech.js",
    submit="Speak",
    icon="audio-lines",
    order=1,
)
