"""Speech: texts are spoken, and music is put under speech."""

from pipeline.kinds.speech.add_music import AddMusic
from pipeline.kinds.speech.batch import SpeechBatch
from pipeline.kinds.speech.speech import Speech
from pipeline.kinds.speech.stream import SpeechStream
from pipeline.kinds.speech.with_music import SpeechWithMusic

KINDS = (
    Speech(),
    SpeechBatch(),
    SpeechStream(),
    SpeechWithMusic(),
    AddMusic(),
)
