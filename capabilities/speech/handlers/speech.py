"""Speech: the handler of POST /tts, and the base of all handlers that speak."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from pydantic import BaseModel

from capabilities.speech.engines import Synthesizer
from capabilities.speech.handlers.rendering import SpeechRenderer
from capabilities.speech.handlers.script import ScriptLine, write_script
from capabilities.speech.handlers.timeline import Timeline
from capabilities.speech.kinds.fields import AudioFile, SpokenInput
from capabilities.speech.kinds.lexicon import Replacements
from capabilities.speech.kinds.speech import SpeechInput
from capabilities.speech.kinds.writing import check_readable, left_out
from capabilities.speech.settings import SynthesisSettings
from capabilities.speech.voices.offered_voices import FAMILY, OfferedVoices, offered_voices
from capabilities.speech.voices.voices import DEFAULT_LANGUAGE, MOST_FOR_SLOW, Voice, VoiceUnknown
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from pipeline.offers.offers import Offer, Offers, order_offers
from workers.engines import EngineBusy, EngineUnavailable
from workers.engines.resources import Resources
from workers.handler import Done, Handler, Outcome, Task
from workers.media.audio.levelling import Levelled
from workers.media.audio.loudness import MeasuredTrack
from workers.media.audio.pcm import write_wav
from workers.media.audio.track import Track

log = get_logger(__name__)

#: Characters of a line, in whole sentences where they fit. espeak speaks them in 30 ms, or in some tenths of a second
#: if it spells them out; then another text gets its turn.
TURN_CHARACTERS = 500

S = TypeVar("S", bound=SpokenInput)
O = TypeVar("O", bound=BaseModel)  # noqa: E741
T = TypeVar("T")


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

    def choose(
        self, request: SpokenInput, language: str | None, *, without: Collection[str] = ()
    ) -> tuple[Synthesizer, Voice]:
        """Return the engine and the voice for a request, of engines that are not `without`.

        Raises InvalidRequest, VoiceUnavailable, EngineUnavailable."""
        left = [offer for offer in self.offers.engines if offer.engine not in without]
        if without and not any(offer.ready for offer in left):
            raise EngineUnavailable("No other engine is ready.")
        voices = offered_voices(Offers(tuple(left))) if without else self.voices
        voice = voices.pick(voice_name=request.voice_name, language=language, characters=len(request.text))
        check_readable(request.spoken_text, voice, voices)
        return self._family.engine(voice.engine), voice

    def warning(self, request: SpokenInput, language: str | None, voice: Voice) -> str | None:
        """Return a warning about words that a voice leaves out and about a better voice; None if all is well."""
        told = left_out(request.spoken_text, voice), self._better(request, language, voice)
        return " ".join(filter(None, told)) or None

    def _better(self, request: SpokenInput, language: str | None, voice: Voice) -> str | None:
        """Return which voice would suit a request better and what becomes of it; None if this is the best.

        A better voice that downloads by itself starts to download."""
        voices, is_long = self.voices, len(request.text) > MOST_FOR_SLOW
        best = f"Spoken by {voice.id}, the best voice here"
        slow = voices.slow_voice(language) if is_long and voice.quality == "robotic" else None
        if slow is not None and not self.is_named(request):
            return f"{best} for so long a text. voice_name={slow.id} sounds natural and takes as long as people do."
        better = voices.better(voice, voice_name=request.voice_name, language=language, is_long=is_long)
        return None if better is None else f"{best} for this request. {self._family.demand(better.model)}"

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
        """Carry out a task by one voice."""
        return self.with_voice(task.input, lambda speaking: self.speak(task, speaking))

    def with_voice(self, request: S, speak: Callable[[SpeechRenderer], T]) -> T:
        """Return the result of `speak` with a request's voice; if that fails, with the next, unless it was named."""
        language = self.chooser.language(request)
        asked = language or (None if request.voice_name else DEFAULT_LANGUAGE)
        engine, voice = self.chooser.choose(request, language)
        failed: set[str] = set()
        broken: set[str] = set()
        while True:
            try:
                warning = self.chooser.warning(request, language, voice)
                return speak(_renderer(request, engine, voice, asked, warning))
            # VoiceUnknown: its model was just removed.
            except (EngineUnavailable, VoiceUnknown) as error:
                if isinstance(error, EngineBusy) or self.chooser.is_named(request):
                    raise
                failed.add(voice.id)
                reason, last = error.message, voice.engine
                self.chooser.renew()
                with raised_instead(error):
                    engine, voice = self.chooser.choose(request, language, without=broken)
                    if voice.id in failed:  # still offered, as by a server whose answer was no sound
                        broken.add(last)
                        engine, voice = self.chooser.choose(request, language, without=broken)
                log.warning("voice failed, the next one speaks", engine=last, reason=reason)


@contextmanager
def raised_instead(error: PressroomError) -> Iterator[None]:
    """Raise why a voice failed where no other is left for its request."""
    try:
        yield
    except PressroomError:
        raise error from None


def _renderer(
    request: SpokenInput, engine: Synthesizer, voice: Voice, asked: str | None, warning: str | None
) -> SpeechRenderer:
    entries = request.lexicon
    if request.is_detected:  # else the API has left out the entries of other languages
        entries = tuple(entry for entry in entries if entry.language is None or voice.speaks(entry.language))
    replacements = Replacements(entries)
    return SpeechRenderer(engine, voice, request.speed, request.pitch, replacements, asked=asked, warning=warning)


def append_all(
    track: Track,
    speaking: SpeechRenderer,
    script: Sequence[ScriptLine],
    timeline: Timeline,
    stop: Callable[[], bool],
) -> Iterator[None]:
    """Append a script with its pauses to a track and note its times; yield after each line."""
    for spoken in speaking.perform(script, stop=stop):
        track.append_silence(spoken.silence)
        timeline.add(spoken, track.duration)
        if spoken.utterance is not None:
            track.append_sound(spoken.utterance.sound)
        yield


class SpeechHandler(SpeakingHandler[SpeechInput, AudioFile]):
    """Speaks a text into a WAV file."""

    def speak(self, task: Task[SpeechInput], speaking: SpeechRenderer) -> Outcome[AudioFile]:
        """Speak one text into a file, not into memory. Other texts of this process speak between its lines."""
        script = write_script(task.input, limit=TURN_CHARACTERS, language=speaking.language)
        timeline = Timeline(task.input, speaking.language, wanted=task.input.timestamps)
        rate = speaking.voice.natural_sample_rate_hertz
        with MeasuredTrack(rate) as track, tempfile.TemporaryFile(prefix="pressroom-") as file:
            for _ in append_all(track, speaking, script, timeline, task.is_stopped):
                pass
            duration = track.duration
            levelled = Levelled(track, track.measured(), gain_db=task.input.volume_gain_db)
            write_wav(file, rate, levelled.blocks())
            file.seek(0)
            artifact = task.store(file, suffix=".wav", made=speaking.made)
        wav = AudioFile(
            artifact=artifact,
            voice=speaking.voice.id,
            warning=speaking.warning,
            duration_seconds=duration.total_seconds(),
            times=timeline.keep(task, duration),
        )
        return Done(wav, engine=speaking.voice.engine, models=speaking.made.models)
