"""Transcripts by an endpoint."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from model_server import ModelServer, refused

from capabilities.transcription.engines import SAMPLE_RATE
from capabilities.transcription.engines.endpoint import EndpointTranscriber
from pipeline.settings import Settings
from workers.engines.endpoints.errors import AnswerInvalid, ModelUnknown

SECOND = np.zeros(SAMPLE_RATE, np.int16)
VERBOSE = {
    "text": "Guten Tag. Wie geht es?",
    "language": "german",
    "segments": [{"start": 0, "end": 1.2, "text": " Guten Tag."}, {"start": 1.2, "end": 2, "text": " Wie geht es?"}],
    "words": [
        {"word": "Guten", "start": 0.1, "end": 0.5},
        {"word": "Tag.", "start": 0.5, "end": 1.0},
        {"word": "Wie", "start": 1.3, "end": 1.5},
    ],
}


Engine = Callable[..., EndpointTranscriber]


@pytest.fixture(name="engine")
def _engine() -> Iterator[Engine]:
    made: list[EndpointTranscriber] = []

    def make(server: ModelServer, model: str = "whisper-1") -> EndpointTranscriber:
        settings = Settings(endpoints={"house": {"url": server.url, "transcripts": model}})
        made.append(EndpointTranscriber(settings, "house"))
        made[-1].setup()
        return made[-1]

    yield make
    for one in made:
        one.close()


def heard(transcriber: EndpointTranscriber, **how: Any) -> tuple[str, list[str]]:
    with transcriber.listen(SECOND, **{"language": None, "timed": True, **how}) as found:
        return found.language, [segment.text for segment in found.segments]  # type: ignore[union-attr]


def test_a_recording_is_sent_as_wav_and_its_segments_and_words_come_back(engine: Engine) -> None:
    with ModelServer({"/audio/transcriptions": VERBOSE}) as server:
        transcriber = engine(server)
        with transcriber.listen(SECOND, language="de", timed=True, prompt="Ada Lovelace") as found:
            segments: Any = list(found.segments)
        asked = server.asked[-1].body
    assert found.language == "de"
    assert [segment.text for segment in segments] == ["Guten Tag.", "Wie geht es?"]
    assert [[word.word for word in segment.words] for segment in segments] == [["Guten", "Tag."], ["Wie"]]
    assert asked.pop("file")[:4] == b"RIFF"
    assert (asked["model"], asked["language"], asked["prompt"]) == ("whisper-1", "de", "Ada Lovelace")


def test_a_server_without_times_gives_its_text_as_one_segment(engine: Engine) -> None:
    def plain(body: Any) -> Any:
        if body["response_format"] != "json":
            return refused(400, {"error": "unsupported response_format"})(body)  # type: ignore[operator]
        return {"text": "Hello."}

    with ModelServer({"/audio/transcriptions": plain}) as server:
        assert heard(engine(server), language="en") == ("en", ["Hello."])
        assert heard(engine(server, "gpt-4o-transcribe"), language="en") == ("en", ["Hello."])
        with engine(server).listen(SECOND, language="en", timed=True) as found:
            assert not found.has_times
        assert len(server.paths()) == 5
    untimed = {"text": "Hello. Bye.", "segments": [{"text": "Hello."}, {"text": "Bye."}]}
    with (
        ModelServer({"/audio/transcriptions": untimed}) as server,
        engine(server).listen(SECOND, language="en", timed=True) as found,
    ):
        assert ([one.text for one in found.segments], found.has_times) == (["Hello. Bye."], False)


def test_a_server_that_names_no_language_has_it_told_by_its_text(engine: Engine) -> None:
    text = "Guten Morgen, meine Damen und Herren, wir beginnen jetzt mit der Sitzung."
    with ModelServer({"/audio/transcriptions": {"text": text}}) as server:
        assert heard(engine(server)) == ("de", [text])


def test_translation_has_its_own_route(engine: Engine) -> None:
    with ModelServer({"/audio/translations": {"text": "Good day."}}) as server:
        assert heard(engine(server), language="de", translate=True)[1] == ["Good day."]
        assert "language" not in server.asked[-1].body


def test_a_server_that_can_not_translate_still_transcribes(engine: Engine) -> None:
    with ModelServer({"/models": {}, "/audio/transcriptions": {"text": "Hello."}}) as server:
        transcriber = engine(server)
        with pytest.raises(ModelUnknown):
            heard(transcriber, translate=True)
        assert heard(transcriber)[1] == ["Hello."]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"text": "word " * 200}, "more text than anybody says in 1 s"),
        ({"text": "Hello.", "segments": [{"text": "word " * 200, "start": 0, "end": 1}]}, "more text"),
        ({"text": "Hello.", "noise": "x" * 100_000}, "more than 73,728 bytes"),
        ({"text": "Hello.", "segments": [{"start": "soon"}]}, "can't be read"),
        ({"text": "Hello.", "segments": [{"start": 10**400}]}, "can't be read"),
        ({"text": "Hello.", "segments": "all"}, "can't be read"),
    ],
)
def test_an_answer_that_no_sound_of_this_length_has_is_an_error(engine: Engine, answer: Any, fault: str) -> None:
    with ModelServer({"/audio/transcriptions": answer}) as server:
        transcriber = engine(server)
        with pytest.raises(AnswerInvalid, match=fault):
            heard(transcriber)


def test_silence_is_no_segment_and_an_answer_without_a_text_is_an_error(engine: Engine) -> None:
    with ModelServer({"/audio/transcriptions": {"text": " "}}) as server:
        transcriber = engine(server)
        assert heard(transcriber)[1] == []
        server.answers["/audio/transcriptions"] = {"result": "Hello."}
        with pytest.raises(AnswerInvalid, match="without a text"):
            heard(transcriber)
