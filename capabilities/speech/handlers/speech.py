"""Speech: the handler of POST /tts, and what all handlers that speak have in common."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Generic, TypeVar

from pydantic import BaseModel

from capabilities.speech.engines import Synthesizer
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.fields import AudioFile, SpokenRequest
from capabilities.speech.kinds.lexicon import LexiconEntry, Replacements
from capabilities.speech.kinds.speech import SpeechRequest
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.settings import SynthesisSettings
from capabilities.speech.voices.offered_voices import FAMILY, offered_voices
from capabilities.speech.voices.voices import DEFAULT_LANGUAGE, Voice, VoiceUnknown
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers
from workers.engines import EngineUnavailable
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.pcm import WavWriter

log = get_logger(__name__)

#: Characters that are spoken at a time, as whole sentences where they fit. espeak takes 30 ms for them, or some tenths
#: of a second where it spells them out. Then another text may use it.
TURN_CHARACTERS = 500


S = TypeVar("S", bound=SpokenRequest)
O = TypeVar("O", bound=BaseModel)  # noqa: E741


class EngineChooser:
    """The synthesis engines of a process, and the voices that they offer now."""

    def __init__(self, resources: Resources) -> None:
        self._settings = resources.settings
        self._family = resources.family(FAMILY)
        self._family.watch(self.renew)
        self.offers = Offers()

    def setup(self) -> None:
        """Set up every engine that can be, once. Raises NotReady when none can."""
        try:
            self._family.setup()
        finally:
            self.renew()  # also without any engine: the offers tell what they lack

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever an engine has become available or unavailable, or has other voices."""
        self._family.watch(on_change)

    def language(self, request: SpokenRequest) -> str | None:
        """Return the language that was asked for, found out from the text where that is asked for; None: any.

        A voice that was named has its own. Where no voice speaks what was found, it is as if nothing was."""
        voices = offered_voices(self.offers)
        if not request.is_detected or voices.is_own_name(request.voice_name):
            return request.stated_language
        from workers.engines.languages.languages import SAMPLE, evident_language  # it takes a fifth of a second

        found = evident_language(request.spoken_text[:SAMPLE], DEFAULT_LANGUAGE)
        return found if any(voice.speaks(found) for voice in voices.ready) else DEFAULT_LANGUAGE

    def is_named(self, request: SpokenRequest) -> bool:
        """Return whether a request names the one voice that may speak."""
        return offered_voices(self.offers).is_own_name(request.voice_name)

    def choose(self, request: SpokenRequest, found: str | None = None) -> tuple[Synthesizer, Voice]:
        """Return the engine and the voice for a request, in the language that was found out, if it was.

        Raises InvalidRequest, VoiceUnavailable."""
        voices = offered_voices(self.offers)
        language = found or request.stated_language
        voice = voices.pick(voice_name=request.voice_name, language=language, characters=len(request.text))
        check_readable(request.spoken_text, voice, voices)
        return self._family.engine(voice.engine), voice

    def renew(self) -> None:
        """Ask the engines what they offer now."""
        self.offers = order_offers(self._settings, self._family.offers())


class SpeakingHandler(Handler[S, O], Generic[S, O]):
    """Takes one text at a time; a subclass decides what becomes of the sound."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self.slots = self.settings.of(SynthesisSettings).slots
        self.speaker = resources.shared(EngineChooser)

    def setup(self) -> None:
        """Set the engines up. Raises NotReady when none is ready."""
        self.speaker.setup()

    def offers(self) -> Sequence[Offer]:
        """Return the engines with their voices."""
        return self.speaker.offers.engines

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` when the engines, or their voices, have changed."""
        self.speaker.watch(on_change)

    def speak(self, task: Task[S], speaking: SpeechRenderer) -> Outcome[O]:
        """Return the outcome of one task, spoken from start to end by one engine."""
        raise NotImplementedError

    def carry_out(self, task: Task[S]) -> Outcome[O]:
        """Carry out a task; when its voice fails, with the next one, unless the request named its voice."""
        request = task.input
        language = self.speaker.language(request)
        asked = language or (None if request.voice_name else DEFAULT_LANGUAGE)
        engine, voice = self.speaker.choose(request, language)
        failed: set[str] = set()
        while True:
            try:
                lexicon = Replacements(_entries_for(voice, request))
                speaking = SpeechRenderer(
                    engine, voice, request.speed, request.pitch, request.gain_db, lexicon, asked=asked
                )
                return self.speak(task, speaking)
            # Unknown: its model was just removed.
            except (EngineUnavailable, VoiceUnknown) as error:
                if self.speaker.is_named(request):
                    raise
                failed.add(voice.id)
                reason, last = error.message, voice.engine
                self.speaker.renew()
                engine, voice = self.speaker.choose(request, language)
                if voice.id in failed:
                    raise
                log.warning("voice failed, the next one speaks", engine=last, reason=reason)


def _entries_for(voice: Voice, request: SpokenRequest) -> Sequence[LexiconEntry]:
    """Return the lexicon's entries for a voice: the API has left out those of other languages if it knew which."""
    if not request.is_detected:
        return request.replacements
    return [entry for entry in request.replacements if entry.language is None or voice.speaks(entry.language)]


class SpeechHandler(SpeakingHandler[SpeechRequest, AudioFile]):
    """Speaks a text into a WAV file."""

    def speak(self, task: Task[SpeechRequest], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        """Speak one text into a file, not into memory. Other texts of this process speak between its lines."""
        script = write_script(task.input, limit=TURN_CHARACTERS, language=speaking.language)
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            writer = WavWriter(file, speaking.voice.natural_sample_rate_hertz)
            with closing(writer):
                for spoken in speaking.perform(script, stop=task.is_stopped):
                    writer.write_silence(spoken.silence)
                    timeline.add(spoken, writer.duration)
                    if spoken.utterance is not None:
                        writer.write(spoken.utterance.sound)
                duration = writer.duration
            file.seek(0)
            artifact = task.store(file, suffix=".wav")
        seconds, times = duration.total_seconds(), timeline.keep(task, duration)
        wav = AudioFile(artifact=artifact, voice=speaking.voice.id, duration_seconds=seconds, times=times)
        return Done(wav, engine=speaking.voice.engine)
