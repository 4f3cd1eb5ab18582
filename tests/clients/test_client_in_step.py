"""The client knows what the service's own document says: each field of what is answered, and of what is asked."""

import dataclasses
import inspect
from dataclasses import MISSING
from typing import Any

import pytest

from api.capabilities import load_routes
from api.openapi.document import describe_service
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pressroom import Pressroom
from pressroom.documents import Document, account, books, index, jobs, posts, speech

DOCUMENTS: dict[str, type[Document]] = {
    "Job": jobs.Job,
    "JobProgress": jobs.JobProgress,
    "JobCredits": jobs.JobCredits,
    "TimedSpeech": speech.Timing,
    "TimedSentence": speech.SpokenSentence,
    "TimedWord": speech.SpokenWord,
    "LexiconDocument": speech.Lexicon,
    "LexiconEntry": speech.LexiconEntry,
    "BookPlan": books.BookPlan,
    "ShownChapter": books.PlannedChapter,
    "BookProgress": books.Audiobook,
    "ChapterProgress": books.AudiobookChapter,
    "Passage": books.AudiobookPassage,
    "Transcript": speech.Transcript,
    "Segment": speech.Segment,
    "Word": speech.TranscribedWord,
    "AltTextResult": posts.AltText,
    "BatchResult": posts.BatchAltText,
    "BlogMetadataResult": posts.BlogPost,
    "BlogPicture": posts.Cover,
    "IndexJob": index.IndexJob,
    "UrlRecord": index.UrlRecord,
    "IndexMonitorCreated": index.IndexMonitor,
    "IndexMonitorChange": index.IndexMonitorChange,
    "KeyCreated": account.Key,
    "KeyVerification": account.KeyVerification,
    "Usage": account.Usage,
    "Voice": speech.Voice,
    "WebhookSettingsCreated": account.Webhook,
    "AccountWebhookCreated": account.AccountWebhook,
    "WebhookSecret": account.WebhookSecret,
    "WebhookDelivery": account.WebhookDelivery,
}
REQUESTS = {
    "SpeechRequest": "speak",
    "SpeechBatchRequest": "speak_long",
    "SpeechStreamRequest": "stream_speech",
    "SpeechWithMusicRequest": "speak_with_music",
    "AddMusicRequest": "add_music",
    "AudiobookRequest": "make_audiobook",
    "TranscriptionRequest": "transcribe",
    "AltTextRequest": "describe",
    "BlogMetadataRequest": "blog",
    "IndexCheckRequest": "submit_index",
    "KeyRequest": "create_key",
    "MonitorRequest": "create_monitor",
}
#: Fields that the client fills in, or calls otherwise; and those that `more` is for.
RENAMED = {"voice_name": "voice", "image_url": "image"}
LEFT_OUT = {"api_key", "source", "response_format"}


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    described: dict[str, Any] = describe_service(load_kinds(Settings()), load_routes())["components"]["schemas"]
    return described


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_answer_has_all_its_fields_and_needs_none_that_may_be_missing(schemas: dict[str, Any], name: str) -> None:
    schema, model = schemas[name], DOCUMENTS[name]

    assert set(schema["properties"]) == {field.name for field in dataclasses.fields(model)}, name
    needed = {field.name for field in dataclasses.fields(model) if field.default is field.default_factory is MISSING}
    assert needed <= set(schema.get("required", schema["properties"]))


@pytest.mark.parametrize("name", REQUESTS)
def test_a_method_takes_each_field_of_its_request(schemas: dict[str, Any], name: str) -> None:
    taken = set(inspect.signature(getattr(Pressroom, REQUESTS[name])).parameters)

    assert {RENAMED.get(field, field) for field in schemas[name]["properties"]} - LEFT_OUT <= taken
