"""Speech: a text through HTTP, a worker and the store, beside the engine alone in this process."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.streams import load_engine
from benchmarks.systems import Running, pressroom
from capabilities.speech.voices.voices import pick_voice
from workers.media.audio.pcm import encode_wav

SENTENCE = "The quick brown fox jumps over the lazy dog."
#: As long as /tts takes, 10,000 characters.
LONG = (SENTENCE + " ") * 222 + "Ten chars."
THOUSAND = LONG[:1_000]
#: Each engine's text, and its limit in milliseconds, if any.
TEXTS: Mapping[str, Sequence[tuple[str, float | None]]] = {
    "espeak": ((SENTENCE, None), (LONG, None)),
    "hibari": ((SENTENCE, None), (THOUSAND, 1_200)),
}


def measure(*, quick: bool) -> Iterator[Table]:
    """Alternate between a request and the library."""
    rounds = 3 if quick else 7
    for name in TEXTS:
        with pressroom(PRESSROOM_SYNTHESIS__ENGINES=name) as running:
            yield _measure_engine(running, name, rounds)


def _measure_engine(running: Running, name: str, rounds: int) -> Table:
    table = Table(
        f"Speech by {name}", "POST /tts to the last byte, one at a time; raw: the engine and the WAV header alone."
    )
    engine = load_engine(name)
    # The voice that a request gets that names none.
    voice = pick_voice(engine.voices(), voice_name=None, language=None).id
    for text, most in TEXTS[name]:
        body = json.dumps({"text": text}).encode()
        sent = request(running.address, "/tts", body, {"X-API-Key": running.key})
        bare = _timed(lambda text=text: encode_wav(engine.speak(text, voice=voice)))
        load(running.address, sent, connections=1, count=1).expect(200)
        ours, raw = [], []
        for _ in range(rounds):
            ours.append(load(running.address, sent, connections=1, count=1).expect(200).percentile(50))
            raw.append(bare())
        table.bound(f"{len(text):,} characters", ours, unit="ms", raw=raw, most=most)
    return table


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1_000

    return timed
