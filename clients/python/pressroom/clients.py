"""Clients: Pressroom for code that blocks, AsyncPressroom for asyncio. Both have the same methods."""

from datetime import timedelta
from typing import Any, Self

import httpx2

from pressroom import flows
from pressroom.finding import find_key, find_url
from pressroom.methods import Awaiting, Blocking, Method, StreamMethod
from pressroom.runners import AsyncRunner, BlockingRunner
from pressroom.service import Service

#: How long a request is repeated while the service restarts or asks for a pause.
PATIENCE = timedelta(minutes=2)


class Methods:
    """The methods of both clients."""

    speak = Method(flows.speech.speak)
    speak_long = Method(flows.speech.speak_long)
    speak_with_music = Method(flows.speech.speak_with_music)
    add_music = Method(flows.speech.add_music)
    stream_speech = StreamMethod(flows.speech.stream_speech)
    voices = Method(flows.speech.voices)
    lexicon = Method(flows.speech.lexicon)
    set_lexicon = Method(flows.speech.set_lexicon)

    plan_audiobook = Method(flows.books.plan_audiobook)
    make_audiobook = Method(flows.books.make_audiobook)
    audiobook = Method(flows.books.audiobook)
    audiobook_passages = Method(flows.books.audiobook_passages)
    change_audiobook = Method(flows.books.change_audiobook)
    audiobook_file = Method(flows.books.audiobook_file)

    transcribe = Method(flows.speech.transcribe)
    subtitles = Method(flows.speech.subtitles)
    name_speakers = Method(flows.speech.name_speakers)
    upload = Method(flows.uploads.upload)

    describe = Method(flows.posts.describe)
    describe_batch = Method(flows.posts.describe_batch)

    blog = Method(flows.posts.blog)

    check_index = Method(flows.index.check_index)
    submit_index = Method(flows.index.submit_index)
    index_jobs = Method(flows.index.index_jobs)
    index_job = Method(flows.index.index_job)
    index_urls = StreamMethod(flows.index.index_urls)
    export_index = Method(flows.index.export_index)
    retry_index = Method(flows.index.retry_index)
    monitors = Method(flows.index.monitors)
    monitor = Method(flows.index.monitor)
    create_monitor = Method(flows.index.create_monitor)
    change_monitor = Method(flows.index.change_monitor)
    delete_monitor = Method(flows.index.delete_monitor)
    monitor_changes = StreamMethod(flows.index.monitor_changes)

    submit = Method(flows.jobs.submit)
    jobs = Method(flows.jobs.jobs)
    all_jobs = StreamMethod(flows.jobs.all_jobs)
    job = Method(flows.jobs.job)
    wait = Method(flows.jobs.wait)
    iter_events = StreamMethod(flows.jobs.iter_events)
    result = Method(flows.jobs.result)
    cancel = Method(flows.jobs.cancel)
    retry = Method(flows.jobs.retry)
    delete = Method(flows.jobs.delete)

    usage = Method(flows.account.usage)
    verify_key = Method(flows.account.verify_key)
    keys = Method(flows.account.keys)
    create_key = Method(flows.account.create_key)
    change_key = Method(flows.account.change_key)
    delete_key = Method(flows.account.delete_key)

    webhook = Method(flows.account.webhook)
    set_webhook = Method(flows.account.set_webhook)
    webhooks = Method(flows.account.webhooks)
    add_webhook = Method(flows.account.add_webhook)
    change_webhook = Method(flows.account.change_webhook)
    send_test_event = Method(flows.account.send_test_event)
    delete_webhook = Method(flows.account.delete_webhook)
    rotate_webhook_secret = Method(flows.account.rotate_webhook_secret)
    webhook_deliveries = StreamMethod(flows.account.webhook_deliveries)
    send_again = Method(flows.account.send_again)


class Pressroom(Methods, Blocking):
    """A Pressroom service, and a key for it. Threads may share one."""

    def __init__(
        self,
        api_key: str | None = None,
        *,
        url: str | None = None,
        patience: timedelta = PATIENCE,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Connect to the service at `url`, else PRESSROOM_URL, else the system that runs here.

        The key is `api_key`, else PRESSROOM_API_KEY, else that of a system on this machine. A request is repeated for
        `patience` while the service restarts or asks for a pause. Raises Unauthorized when there is no key."""
        self._client = httpx2.Client(transport=transport, **_settings(api_key, url))
        self._service = Service(patience)
        self._runner = BlockingRunner(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()


class AsyncPressroom(Methods, Awaiting):
    """The same for asyncio."""

    def __init__(
        self,
        api_key: str | None = None,
        *,
        url: str | None = None,
        patience: timedelta = PATIENCE,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """Connect as Pressroom does."""
        self._client = httpx2.AsyncClient(transport=transport, **_settings(api_key, url))
        self._service = Service(patience)
        self._runner = AsyncRunner(self._client)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._client.aclose()


def _settings(api_key: str | None, url: str | None) -> dict[str, Any]:
    address = find_url(url)
    return {"base_url": address, "headers": {"X-API-Key": find_key(api_key, address)}}
