"""Speech: a text through HTTP, a worker and the store, beside the bare library call in this process."""

import json
import time
from collections.abc import Callable, Iterator

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.systems import pressroom
from pipeline.kinds.speech.voices import pick_voice
from workers.engines.synthesis.espeak.espeak import Espeak
from workers.media.audio.pcm import encode_wav

SENTENCE = "The quick brown fox jumps over the lazy dog."
#: As long as /tts takes, 10,000 characters.
LONG = (SENTENCE + " ") * 222 + "Ten chars."


def measure(*, quick: bool) -> Iterator[Table]:
    """Alternate between a request and the library."""
    rounds = 3 if quick else 7
    table = Table("Speech", "POST /tts to the last byte, one at a time; raw: libespeak-ng and the WAV header alone.")
    engine = Espeak()
    engine.setup()
    with pressroom() as running:
        # The voice that a request gets that names none.
        voice = pick_voice(engine.voices(), voice_name=None, language=None).id
        for what, text in (("a sentence", SENTENCE), (f"{len(LONG):,} characters", LONG)):
            body = json.dumps({"text": text}).encode()
            sent = request(running.address, "/tts", body, {"X-API-Key": running.key})
            bare = _timed(lambda text=text: encode_wav(engine.speak(text, voice=voice)))
            load(running.address, sent, connections=1, count=1).expect(200)
            ours, raw = [], []
            for _ in range(rounds):
                ours.append(load(running.address, sent, connections=1, count=1).expect(200).percentile(50))
                raw.append(bare())
            table.bound(what, ours, unit="ms", raw=raw)
    yield table


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1_000

    return timed
