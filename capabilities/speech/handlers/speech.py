"""Speech: the handler of POST /tts, and the base of all handlers that speak."""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Generic, TypeVar

from pydantic import BaseModel

from capabilities.speech.engines import Synthesizer
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import write_script
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.fields import AudioFile, SpokenInput
from capabilities.speech.kinds.lexicon import Replacements
from capabilities.speech.kinds.speech import SpeechInput
from capabilities.speech.kinds.writing import check_readable
from capabilities.speech.settings import SynthesisSettings
from capabilities.speech.voices.offered_voices import FAMILY, OfferedVoices, offered_voices
from capabilities.speech.voices.voices import DEFAULT_LANGUAGE, Voice, VoiceUnknown
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers
from workers.engines import EngineBusy, EngineUnavailable
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.pcm import WavWriter

log = get_logger(__name__)

#: Characters of a line, in whole sentences where they fit. espeak speaks them in 30 ms, or in some tenths of a second
#: if it spells them out; then another text gets its turn.
TURN_CHARACTERS = 500

S = TypeVar("S", bound=SpokenInput)
O = TypeVar("O", bound=BaseModel)  # noqa: E741


class EngineChooser:
    """Chooses among the synthesis engines of a process and the voices that they offer now."""

    def __init__(self, resources: Resources) -> None:
        self._settings = resources.settings
        self._family = resources.family(FAMILY)
        self._family.watch(self.renew)
        self.offers = Offers()

    def setup(self) -> None:
        """Set up every engine that can be, once. Raises NotReady if none can."""
        try:
            self._family.setup()
        finally:
            self.renew()  # also without any engine: the offers say what they lack

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever an engine becomes available or unavailable, or its voices change."""
        self._family.watch(on_change)

    def language(self, request: SpokenInput) -> str | None:
        """Return the language that was asked for, detected if need be; None for any.

        A voice that was named has its own language. A language that no voice speaks counts as not detected."""
        if not request.is_detected or self.is_named(request):
            return request.stated_language
        from workers.engines.languages.languages import SAMPLE, evident_language  # it takes a fifth of a second

        found = evident_language(request.spoken_text[:SAMPLE], DEFAULT_LANGUAGE)
        return found if any(voice.speaks(found) for voice in self.voices.ready) else DEFAULT_LANGUAGE

    @property
    def voices(self) -> OfferedVoices:
        """The voices that the engines offer now."""
        return offered_voices(self.offers)

    def is_named(self, request: SpokenInput) -> bool:
        """Return whether a request names the one voice that may speak."""
        return self.voices.is_own_name(request.voice_name)

    def choose(self, request: SpokenInput, language: str | None) -> tuple[Synthesizer, Voice]:
        """Return the engine and the voice for a request. Raises InvalidRequest, VoiceUnavailable."""
        voices = self.voices
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
        self.chooser = resources.shared(EngineChooser)

    def setup(self) -> None:
        """Set the engines up. Raises NotReady if none is ready."""
        self.chooser.setup()

    def offers(self) -> Sequence[Offer]:
        return self.chooser.offers.engines

    def watch(self, on_change: Callable[[], None]) -> None:
        self.chooser.watch(on_change)

    def speak(self, task: Task[S], speaking: SpeechRenderer) -> Outcome[O]:
        """Return the outcome of one task, spoken from start to end by one engine."""
        raise NotImplementedError

    def carry_out(self, task: Task[S]) -> Outcome[O]:
        """Carry out a task; if its voice fails, with the next one, unless the request named its voice."""
        request = task.input
        language = self.chooser.language(request)
        asked = language or (None if request.voice_name else DEFAULT_LANGUAGE)
        engine, voice = self.chooser.choose(request, language)
        failed: set[str] = set()
        while True:
            try:
                return self.speak(task, _renderer(request, engine, voice, asked))
            # VoiceUnknown: its model was just removed.
            except (EngineUnavailable, VoiceUnknown) as error:
                if isinstance(error, EngineBusy) or self.chooser.is_named(request):
                    raise
                failed.add(voice.id)
                reason, last = error.message, voice.engine
                self.chooser.renew()
                engine, voice = self.chooser.choose(request, language)
                if voice.id in failed:
                    raise
                log.warning("voice failed, the next one speaks", engine=last, reason=reason)


def _renderer(request: SpokenInput, engine: Synthesizer, voice: Voice, asked: str | None) -> SpeechRenderer:
    entries = request.lexicon
    if request.is_detected:  # else the API has left out the entries of other languages
        entries = tuple(entry for entry in entries if entry.language is None or voice.speaks(entry.language))
    return SpeechRenderer(
        engine, voice, request.speed, request.pitch, request.gain_db, Replacements(entries), asked=asked
    )


class SpeechHandler(SpeakingHandler[SpeechInput, AudioFile]):
    """Speaks a text into a WAV file."""

    def speak(self, task: Task[SpeechInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
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
            artifact = task.store(file, suffix=".wav", made=speaking.made)
        seconds, times = duration.total_seconds(), timeline.keep(task, duration)
        wav = AudioFile(artifact=artifact, voice=speaking.voice.id, duration_seconds=seconds, times=times)
        return Done(wav, engine=speaking.voice.engine, models=speaking.made.models)
