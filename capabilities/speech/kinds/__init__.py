"""The kinds of speech: speak texts, and put music under speech."""

from capabilities.speech.kinds.batch import SpeechBatch
from capabilities.speech.kinds.music import AddMusic, SpeechWithMusic
from capabilities.speech.kinds.speech import Speech
from capabilities.speech.kinds.stream import SpeechStream

KINDS = (Speech(), SpeechBatch(), SpeechStream(), SpeechWithMusic(), AddMusic())
