"""Endpoint: recordings are transcribed by a server of the operator's that speaks OpenAI's API."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from babel import Locale

from capabilities.transcription.engines import SAMPLE_RATE, Recognition, Transcriber
from pipeline.subtitles.segments import Segment, Word
from workers.engines import never
from workers.engines.endpoints.client import Call, Form, Upload
from workers.engines.endpoints.endpoint import EndpointEngine
from workers.engines.endpoints.errors import AnswerInvalid, EndpointFailed, ModelUnknown, RequestRefused
from workers.engines.languages.languages import evident_language
from workers.media.audio.pcm import Pcm, encode_wav
from workers.media.audio.track import Samples

#: What Whisper's models understand, which most servers run (ISO 639-1).
_CODES = (
    "af ar az be bg bs ca cs cy da de el en es et fa fi fr gl he hi hr hu hy id is it ja kk kn ko lt lv mi mk mr ms ne "
    "nl no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh"
)
LANGUAGES = tuple(_CODES.split())
#: The language of a text that is evidently in no other.
ENGLISH = "en"
#: Most characters of a text, whatever the sound, and for each second of it: nobody says so much.
MOST_CHARACTERS, CHARACTERS_A_SECOND = 500, 60
#: The same of an answer in bytes, with times.
MOST_BYTES, BYTES_A_SECOND = 2**16, 2**13
#: Seconds of silence by which Whisper fills up its last window, at most.
PADDED = 30.0
#: Models of OpenAI's that know no `verbose_json`, and so no times.
TIMELESS = re.compile(r"transcribe")
TRANSLATIONS = "/audio/translations"


class EndpointTranscriber(EndpointEngine, Transcriber):
    """Transcribes by `/audio/transcriptions`, and translates by `/audio/translations`."""

    use = "transcripts"
    translates = is_remote = True

    def languages(self) -> Sequence[str]:
        """Return the languages that it may be asked for."""
        return LANGUAGES

    def offer(self) -> Mapping[str, Any]:
        """Return the languages, for the API, and the model."""
        return {**super().offer(), "languages": list(LANGUAGES), "translates": self.translates}

    @contextmanager
    def listen(
        self,
        samples: Samples,
        *,
        language: str | None,
        timed: bool,
        prompt: str | None = None,
        translate: bool = False,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Recognition]:
        """Send a sound as WAV. Raises EndpointFailed, Stopped."""
        self.require()
        seconds = len(samples) / SAMPLE_RATE
        wav = Upload(encode_wav(Pcm(samples.astype("<i2").tobytes(), SAMPLE_RATE)), "sound.wav", "audio/wav")
        form: list[tuple[str, str | Upload]] = [("model", self.model), ("file", wav)]
        if language is not None and not translate:
            form.append(("language", language))
        if prompt is not None:
            form.append(("prompt", prompt))
        path = TRANSLATIONS if translate else "/audio/transcriptions"
        document = self._answer(Call(path, form=form, most=round(MOST_BYTES + BYTES_A_SECOND * seconds)), timed, stop)
        if not isinstance(text := document.get("text"), str):
            raise AnswerInvalid(self.name, "answered without a text")
        found = _language(document.get("language")) or language or evident_language(text, ENGLISH)
        try:
            told = _segments(document, seconds)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise AnswerInvalid(self.name, "answered with segments that can't be read") from error
        if not any(segment.end for segment in told):
            told = []
        segments = told or [Segment(start=0, end=seconds, text=text.strip())]
        if sum(len(segment.text) for segment in segments) > MOST_CHARACTERS + CHARACTERS_A_SECOND * seconds:
            raise AnswerInvalid(self.name, f"answered with more text than anybody says in {seconds:.0f} s")
        spoken = [segment for segment in segments if segment.text.strip()]
        yield Recognition(found, None, iter(spoken), has_times=bool(told) or not spoken)

    def _answer(self, call: Call, timed: bool, stop: Callable[[], bool]) -> dict[str, Any]:
        """Return the answer with times if the server has them; one that refuses the form is asked for plain JSON."""
        times = [("response_format", "verbose_json"), ("timestamp_granularities[]", "segment")]
        if timed:
            times.append(("timestamp_granularities[]", "word"))
        plain = [("response_format", "json")]
        try:
            return self._asked(call, plain if TIMELESS.search(self.model) else times, stop)
        except RequestRefused:
            return self._asked(call, plain, stop)

    def _asked(self, call: Call, more: Form, stop: Callable[[], bool]) -> dict[str, Any]:
        try:
            return self.client.read(self.client.send([replace(call, form=[*(call.form or ()), *more])], stop=stop)[0])
        except EndpointFailed as error:
            # A server without this route still transcribes, for everybody else.
            if not (isinstance(error, ModelUnknown) and call.path == TRANSLATIONS):
                self.failed(error)
            raise


def _segments(document: Mapping[str, Any], latest: float) -> list[Segment]:
    """Return the segments of `verbose_json`, each with the words that begin in it."""
    words = [
        Word(**_times(one, latest), word=str(one["word"])) for one in document.get("words") or () if one.get("word")
    ]
    found = []
    for one in document.get("segments") or ():
        times = _times(one, latest)
        own = [word for word in words if times["start"] <= word.start < times["end"]] if words else None
        found.append(Segment(**times, text=str(one.get("text") or "").strip(), words=own))
    return found


def _times(one: Mapping[str, Any], latest: float) -> dict[str, float]:
    """Return start and end of a part, within the sound as Whisper pads it."""
    start, end = (max(0.0, min(latest + PADDED, float(one.get(name) or 0))) for name in ("start", "end"))
    return {"start": start, "end": max(start, end)}


def _language(told: Any) -> str | None:
    """Return the code of a language that a server names by code or in English: `de`, `german`."""
    if not isinstance(told, str) or not told:
        return None
    if told.lower() in LANGUAGES:
        return told.lower()
    names = Locale("en").languages
    return next((code for code in LANGUAGES if str(names.get(code, "")).lower() == told.lower()), None)
