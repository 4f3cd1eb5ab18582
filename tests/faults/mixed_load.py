"""Mixed load: clients that ask for real kinds, each request sent until it is answered, under one Idempotency-Key."""

import io
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from http_service import form
from PIL import Image, ImageDraw, ImageFont
from search_engine import SearchEngine
from spoken import RATE, samples_of
from systems import Answer, Running

from workers.media.audio.pcm import Pcm, encode_wav

#: A client gives up on an answer after so long, and sends its request again.
ANSWER_SECONDS = 30
#: A request that has no answer for so long after the faults have ended fails the run.
PATIENCE_SECONDS = 240
ENDED = ("succeeded", "partial", "failed", "cancelled", "expired")


@dataclass(frozen=True)
class Wanted:
    """A request: its body as it is sent."""

    path: str
    body: bytes
    content_type: str = "application/json"
    #: Checks that a result is whole; None: nobody reads it.
    is_whole: Callable[[bytes], bool] | None = None
    #: The result names pictures, which are read as well.
    has_pictures: bool = False


def as_json(
    path: str, is_whole: Callable[[bytes], bool] | None = None, *, has_pictures: bool = False, **fields: Any
) -> Wanted:
    """Return a request of JSON."""
    return Wanted(path, json.dumps(fields).encode(), is_whole=is_whole, has_pictures=has_pictures)


def as_form(
    path: str,
    field_name: str,
    file_name: str,
    content: bytes,
    is_whole: Callable[[bytes], bool] | None = None,
) -> Wanted:
    """Return a request with one file."""
    body, kind = form((field_name, content, file_name))
    return Wanted(path, body, kind, is_whole)


def is_whole_wav(body: bytes) -> bool:
    """Return whether a WAV has as many bytes as its header says, and sound in them."""
    return body[:4] == b"RIFF" and int.from_bytes(body[4:8], "little") == len(body) - 8 and any(body[44:])


def holds(*wanted: str) -> Callable[[bytes], bool]:
    """Return whether a JSON document has some fields, and something in each."""
    return lambda body: all(json.loads(body).get(name) for name in wanted)


def made_up() -> list[Wanted]:
    """Short and long, good and bad, and never an item that kills its worker by itself."""
    return [
        as_json("/made-up", count=1),
        as_json("/made-up", count=20),
        as_json("/made-up", items=[{"do": "sleep", "seconds": 0.3}]),
        as_json("/made-up", items=[{"do": "sleep", "seconds": 0.1}, {"do": "fail"}, {}]),
        as_json("/made-up", items=[{"do": "raise", "credits": 3}], price=1),
        as_json("/made-up", items=[{"do": "retry_once", "after": 0.2}, {"do": "throw_once"}]),
    ]


def real_kinds(engine: SearchEngine) -> list[list[Wanted]]:
    """The requests of a client, by real kind."""
    engine.rule = lambda place: place.endswith("1")
    file = io.BytesIO()
    image = Image.new("RGB", (480, 160), "#14325a")
    ImageDraw.Draw(image).text((30, 50), "SUMMER SALE", "white", font=ImageFont.load_default(48))
    image.save(file, "JPEG")
    recording = encode_wav(Pcm(samples_of("library")[: 3 * RATE].tobytes(), RATE))
    return [
        [
            as_json("/tts", is_whole_wav, text="Good morning.", voice="en-US-Heart"),
            as_json("/tts", is_whole_wav, text="Guten Morgen, wie geht es Ihnen heute?", language="de"),
        ],
        [as_form("/tts/stt", "audio", "recording.wav", recording, holds("text"))],
        [as_form("/generate", "image", "sale.jpg", file.getvalue(), holds("alt_text"))],
        [
            as_json(
                "/blog/generate",
                holds("images", "excerpt", "category", "tags", "language"),
                has_pictures=True,
                title="Tomatoes on a balcony",
                content="Tomatoes need sun, water and a pot. " * 9,
            )
        ],
        [as_json("/indexing/jobs", type="check", urls=[f"https://e.example/{number}" for number in range(12)])],
    ]


@dataclass
class MixedLoad:
    """Clients that ask, wait for the end of their job, and ask again until they are told to stop."""

    running: Running
    wanted: Sequence[Sequence[Wanted]]
    webhook: str = ""
    stopped: threading.Event = field(default_factory=threading.Event)
    #: Job ids by Idempotency-Key, and those keys whose end is told to the webhook.
    jobs: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    #: When each request was answered for good, by time.monotonic(), and the number of its client.
    ended: list[tuple[float, int]] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    is_abandoned: bool = False
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "MixedLoad":
        for number, choices in enumerate(self.wanted):
            thread = threading.Thread(target=self._ask_on, args=(number, choices), name=f"client-{number}")
            self._threads.append(thread)
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_abandoned = True  # the system goes away, and nobody asks on
        self.stopped.set()
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """Stop asking; return when every request is answered."""
        self.stopped.set()
        for thread in self._threads:
            thread.join()
        self.check()

    def check(self) -> None:
        """Raise what a client has met that should not be."""
        if self.errors:
            raise self.errors[0]

    def rate(self, seconds: float) -> float:
        """Return how many requests were answered a second, in the last seconds."""
        return sum(self.answers(seconds)) / seconds

    def answers(self, seconds: float) -> list[int]:
        """Return how many requests of each client were answered in the last seconds."""
        since = time.monotonic() - seconds
        found = Counter(number for at, number in list(self.ended) if at >= since)
        return [found[number] for number in range(len(self.wanted))]

    def wait_for_turn(self, clients: int | None = None) -> None:
        """Return once every client, or the first so many, has had an answer to what it asks for from now on."""
        numbers = range(len(self.wanted))[:clients]
        begun = dict(self._rounds)
        until = time.monotonic() + PATIENCE_SECONDS
        while any(self._rounds.get(number, 0) < begun.get(number, 0) + 2 for number in numbers):
            self.check()
            assert time.monotonic() < until, f"clients got no answers: {self._rounds}, and before {begun}"
            time.sleep(0.02)

    _rounds: dict[int, int] = field(default_factory=dict)

    def _ask_on(self, number: int, choices: Sequence[Wanted]) -> None:
        try:
            while not self.stopped.is_set():
                sent = self._rounds.get(number, 0)
                # In turn, so that each while holds about as much work as any other. One in five is told to a webhook:
                # no number of choices has that as a factor, so each of them is told at some time.
                wanted = choices[(number + sent) % len(choices)]
                self._carry_through(wanted, f"client-{number}-{sent}", is_told=sent % 5 == 4)
                self.ended.append((time.monotonic(), number))
                self._rounds[number] = sent + 1
        except BaseException as error:  # noqa: BLE001  it is raised by check()
            self.errors.append(error)

    def _carry_through(self, wanted: Wanted, key: str, *, is_told: bool) -> None:
        """Send a request until it is answered, and return when its job has ended."""
        headers = {"Idempotency-Key": key}
        if is_told and self.webhook:
            headers["X-Webhook-Url"] = self.webhook
            self.told.add(key)
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.is_abandoned:
            answer = self._try(wanted, headers)
            job_id = _job_id(answer) if answer else None
            if job_id:
                assert self.jobs.setdefault(key, job_id) == job_id, f"{key} has two jobs"
                if answer and answer.status == 200:
                    return self._check_whole(wanted, answer)
                if self._wait_for_end(job_id) == "succeeded" and wanted.is_whole:
                    self._read_result(job_id, wanted)
                return None
            assert answer is None or answer.status >= 500, (wanted.path, answer)
            # A fault may last for minutes: only what has no answer while nothing is hurt counts.
            assert time.monotonic() < until, (wanted.path, key, answer)
            time.sleep(0.05)
        return None

    def _try(self, wanted: Wanted, headers: Mapping[str, str]) -> Answer | None:
        try:
            return self.running._send(
                wanted.path, wanted.body, wanted.content_type, method="POST", timeout=ANSWER_SECONDS, **headers
            )
        except (OSError, HTTPException):
            return None

    def _wait_for_end(self, job_id: str) -> str:
        """Return the state that a job has ended in; nothing where the system went away."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.is_abandoned:
            answer = self._look(f"/jobs/{job_id}")
            if answer and answer.status == 200 and answer.json["state"] in ENDED:
                return str(answer.json["state"])
            assert time.monotonic() < until, (job_id, answer)
            time.sleep(0.1)
        return ""

    def _read_result(self, job_id: str, wanted: Wanted) -> None:
        """Read the result of a job that has succeeded: it is there, and whole."""
        if answer := self._read(f"/jobs/{job_id}/result"):
            self._check_whole(wanted, answer)

    def _check_whole(self, wanted: Wanted, answer: Answer) -> None:
        """Raise AssertionError where a result was cut short, or says nothing."""
        told = (wanted.path, len(answer.body), answer.body[:300])
        assert wanted.is_whole is None or wanted.is_whole(answer.body), told
        for picture in answer.json["images"] if wanted.has_pictures else ():
            shown = self._read(picture["url"].removeprefix(self.running.address))
            if shown:
                with Image.open(io.BytesIO(shown.body)) as opened:
                    opened.load()  # raises where its end is missing
                    assert opened.size == (picture["width"], picture["height"]), told

    def _read(self, path: str) -> Answer | None:
        """Return what is at a path that must be there; None where the system went away."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not self.is_abandoned:
            answer = self._look(path)
            if answer and answer.status < 500:
                assert answer.status == 200, (path, answer)
                return answer
            assert time.monotonic() < until, (path, answer)
            time.sleep(0.1)
        return None

    def _look(self, path: str) -> Answer | None:
        try:
            return self.running.ask(path, timeout=10)
        except (OSError, HTTPException):
            return None


def _job_id(answer: Answer) -> str | None:
    """Return the job of an answer; the families say it in different places."""
    if found := answer.headers.get("X-Job-Id"):
        return str(found)
    document = answer.json if answer.status == 201 else {}
    return str(document["job_id"]) if "job_id" in document else None
