"""Listener: one Whisper model, run by faster-whisper on a processor or on CUDA."""

import logging
import math
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from capabilities.transcription.engines import SAMPLE_RATE, Decoding, HeardSegment, Recognition, Transcriber
from capabilities.transcription.engines.whisper.hallucinations import without_hallucinations
from capabilities.transcription.engines.whisper.languages import Clip, Part, find_parts, find_pieces
from capabilities.transcription.engines.whisper.weights import ENGINE, Weights
from capabilities.transcription.engines.whisper.word_times import corrected, loud_runs
from capabilities.transcription.settings import WhisperSettings
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.subtitles.segments import Segment, Word
from workers.engines import Stopped, malloc, never
from workers.media.audio.track import Samples
from workers.models.machine import free_memory, gigabytes

log = get_logger(__name__)

#: ISO 639-1 codes, by the codes of Whisper that differ from them.
CODES = {"jw": "jv"}
ENGLISH = "en"
#: In the names of models that were not trained to translate.
ONLY_TRANSCRIBES = "turbo"
#: Segments that a CUDA device takes together by default.
CUDA_BATCH = 8
#: The least part of a clip that is heard again, and that was heard before it. A clip ends 0.2 s behind its last word.
LEAST_SECONDS = 0.4
#: A second of sound to try the model with, in frames of 10 ms.
FRAMES = 100
#: Most memory while a model is loaded, by the size of its file (float16 becomes int8), and for what surrounds it.
LOADING, LOADING_BYTES = 1.5, 60_000_000


class Listener(Transcriber):
    """A model that is loaded once. It takes one sound at a time."""

    name = ENGINE
    tells_changes = True

    def __init__(self, weights: Weights, settings: WhisperSettings) -> None:
        self.model = weights.name
        self._folder = weights.folder
        self._needs_gpu = weights.needs_gpu
        self._settings = settings
        self._lock = threading.Lock()
        self._unloading: threading.Timer | None = None

    def load(self) -> None:
        """Load the model and use it once; one that is not to stay in memory unused leaves at once. Raises NotReady."""
        began = time.monotonic()
        self._require_memory()
        self._start()
        self._is_multilingual = bool(self._loaded.model.is_multilingual)  # one that is not in memory does not tell
        self._codes = {CODES.get(code, code): code for code in self._loaded.supported_languages}
        if self._settings.idle_minutes:
            self._unload()
        seconds = round(time.monotonic() - began, 1)
        log.info("model loaded", engine=self.name, model=self.model, device=self._device, seconds=seconds)

    def _require_memory(self) -> None:
        needed = round(LOADING * (Path(self._folder) / "model.bin").stat().st_size) + LOADING_BYTES
        if (free := free_memory()) < needed:
            raise NotReady(f"{self.model} needs {gigabytes(needed)} of free memory, and {gigabytes(free)} are free")

    @property
    def translates(self) -> bool:  # type: ignore[override]  # it depends on the model
        return self._is_multilingual and ONLY_TRANSCRIBES not in self.model

    def languages(self) -> Sequence[str]:
        """Return the languages of the model, about a hundred or English alone."""
        return sorted(self._codes)

    @contextmanager
    def listen(
        self,
        samples: Samples,
        *,
        language: str | None,
        timed: bool,
        prompt: str | None = None,
        translate: bool = False,
        likely: str | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Recognition]:
        """Listen to a sound. The model gets only speech, since it invents text for silence."""
        sound = samples.astype(np.float32) / 32_768
        # Hotwords come with each half minute, an `initial_prompt` only with the first.
        how = {"hotwords": prompt, "task": "translate" if translate else "transcribe"}
        with self._in_memory():
            probability: float | None = None
            pieces = list(find_pieces(sound)) if language or not self._is_multilingual else []
            parts = iter([Part(self._codes[language or ENGLISH], 1.0, pieces)] if pieces else [])
            if language is None and self._is_multilingual:
                parts = find_parts(self._loaded, sound, likely and self._codes[likely], batch=self._batch)
                if (first := next(parts, None)) is not None:
                    probability, language = first.probability, CODES.get(first.language, first.language)
                    parts = chain([first], parts)
            found = (
                segment
                for number, part in enumerate(parts)
                for segment in self._hear(sound, part, how, starts_short=not number)
            )
            yield Recognition(language or ENGLISH, probability, _segments(without_hallucinations(found), stop, timed))

    def _start(self) -> None:
        """Load the model onto the device of the settings, else a GPU that works, else the processor.

        Raises NotReady."""
        import ctranslate2

        if self._settings.device not in (None, "auto"):
            return self._try(self._settings.device)
        if ctranslate2.get_cuda_device_count():
            try:
                return self._try("cuda")
            except NotReady as error:
                # Mostly a version of CUDA that CTranslate2 does not want.
                log.warning("GPU not used", engine=self.name, needs=error.message)
                if self._needs_gpu:  # on the processor, a smaller model serves better
                    raise
        return self._try("cpu")

    def _try(self, device: str) -> None:
        self._device = device
        self._batch = self._settings.batch or (CUDA_BATCH if device.startswith("cuda") else 1)
        try:
            self._loaded = self._load()
            self._warm_up()
        except Exception as error:  # for a damaged file tokenizers raises Exception itself
            raise NotReady(f"The model {self.model!r} can't be used on {device}: {error}") from error

    def _load(self) -> Any:
        import ctranslate2
        from faster_whisper import WhisperModel

        logging.getLogger("faster_whisper").setLevel(logging.WARNING)  # it logs every window
        device, _, index = self._device.partition(":")
        supported = ctranslate2.get_supported_compute_types(device, int(index or 0))
        return WhisperModel(
            self._folder,
            device=device,
            device_index=int(index or 0),
            compute_type=self._settings.compute_type or quickest(device, supported),
            cpu_threads=self._settings.cpu_threads,
            local_files_only=True,
        )

    def _warm_up(self) -> None:
        """Use the model once, so that an error, such as a missing library of CUDA, occurs now and not in a request.

        `transcribe` would pad the second to half a minute, which takes a processor 0.7 s instead of 0.01."""
        features = self._loaded.feature_extractor(np.zeros(SAMPLE_RATE, np.float32))
        begin = self._loaded.hf_tokenizer.token_to_id("<|startoftranscript|>")
        self._loaded.model.generate(self._loaded.encode(features[:, :FRAMES]), [[begin]], beam_size=1, max_length=2)

    def _hear(self, sound: Any, part: Part, how: Mapping[str, Any], *, starts_short: bool) -> Iterator[Any]:
        """Yield the segments of a part. What the last clip of a batch leaves is heard with the next."""
        while part.pieces:
            clips = list(islice(part.clips(starts_short=starts_short), 1 if starts_short else self._batch))
            found, [*rests, last] = self._heard(sound, clips, part.language, how)
            if any(rests):
                more, _ = self._heard(sound, [*filter(None, rests)], part.language, how)
                found = sorted([*found, *more], key=lambda segment: segment.start)
            yield from found
            later = [piece for piece in part.pieces if piece[0] >= clips[-1][1]]
            part, starts_short = replace(part, pieces=[*filter(None, [last]), *later]), False

    def _heard(
        self, sound: Any, clips: Sequence[Clip], language: str, how: Mapping[str, Any]
    ) -> tuple[list[Any], list[Clip | None]]:
        """Return the segments of clips, heard together once, whether or not the times of words are wanted; and the
        rest of each clip, if any."""
        from capabilities.transcription.engines.whisper.clips import ClipPipeline

        pipeline = ClipPipeline(self._loaded)
        segments, _ = pipeline.transcribe(
            sound,
            clip_timestamps=[{"start": start / SAMPLE_RATE, "end": stop / SAMPLE_RATE} for start, stop in clips],
            language=language,
            batch_size=self._batch,
            beam_size=self._settings.beam_size,
            vad_filter=False,
            without_timestamps=False,
            word_timestamps=True,
            **how,
        )
        found = list(corrected(list(segments), [run for start, stop in clips for run in loud_runs(sound, start, stop)]))
        left = zip(clips, pipeline.unfinished, strict=True)
        return found, [rest_of(clip, found) if is_unfinished else None for clip, is_unfinished in left]

    @contextmanager
    def _in_memory(self) -> Iterator[None]:
        with self._lock:
            if self._unloading is not None:
                self._unloading.cancel()
            if not self._loaded.model.model_is_loaded:
                self._loaded.model.load_model()
            try:
                yield
            finally:
                self._unload_later()

    def _unload_later(self) -> None:
        if self._settings.idle_minutes:
            self._unloading = threading.Timer(self._settings.idle_minutes * 60, self._unload)
            self._unloading.daemon = True
            self._unloading.start()

    def _unload(self) -> None:
        # The holder of the lock uses the model, and starts a new timer.
        if self._lock.acquire(blocking=False):
            try:
                while self._loaded.model.model_is_loaded:  # at first it does nothing just after a use
                    self._loaded.model.unload_model()
                    time.sleep(0.01)
                malloc.trim()  # without it, a half of the model's memory stays
                log.info("model unloaded", engine=self.name, model=self.model)
            finally:
                self._lock.release()


def rest_of(clip: Clip, found: Sequence[Any]) -> Clip | None:
    """Return the part of a clip behind its segments; None if too little is left, or was heard."""
    start, stop = clip
    heard = [(segment.start * SAMPLE_RATE, segment.end * SAMPLE_RATE) for segment in found]
    end = int(max((end for begin, end in heard if begin < stop and end > start), default=start))
    return (end, stop) if min(end - start, stop - end) > LEAST_SECONDS * SAMPLE_RATE else None


def quickest(device: str, supported: Container[str]) -> str:
    """Return the compute type. GPUs before Volta have no quick float16, and CTranslate2 refuses it."""
    wanted = "int8" if device == "cpu" else "float16"
    return wanted if wanted in supported else "default"


def _segments(found: Iterator[Any], stop: Callable[[], bool], timed: bool) -> Iterator[Segment]:
    for segment in found:
        if stop():
            raise Stopped
        yield _segment(segment, timed)


def _segment(found: Any, timed: bool) -> Segment:
    return HeardSegment(
        decoding=Decoding(
            tokens=list(found.tokens),
            temperature=float(found.temperature or 0.0),
            avg_logprob=float(found.avg_logprob),
            compression_ratio=float(found.compression_ratio),
            no_speech_prob=float(found.no_speech_prob),
        ),
        start=float(found.start),
        end=float(found.end),
        text=found.text,
        probability=round(math.exp(min(0.0, found.avg_logprob)), 3),
        words=[_word(word) for word in found.words or ()] if timed else None,
    )


def _word(found: Any) -> Word:
    return Word(
        start=float(found.start), end=float(found.end), word=found.word, probability=round(float(found.probability), 3)
    )
