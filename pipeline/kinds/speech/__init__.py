"""Speech: texts are spoken, and music is put under speech."""

from pipeline.kinds.speech.batch import SpeechBatch
from pipeline.kinds.speech.music import AddMusic, SpeechWithMusic
from pipeline.kinds.speech.speech import Speech
from pipeline.kinds.speech.stream import SpeechStream

KINDS = (
    Speech(),
    SpeechBatch(),
    SpeechStream(),
    SpeechWithMusic(),
    AddMusic(),
)
