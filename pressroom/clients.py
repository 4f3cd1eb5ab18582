"""Clients: Pressroom, whose methods block, and AsyncPressroom, whose methods are awaited. Both have the same ones."""

from datetime import timedelta
from types import TracebackType
from typing import Any, Self

import httpx2

from pressroom import flows
from pressroom.finding import find_key, find_url
from pressroom.methods import async_streamed, awaited, blocking, streamed
from pressroom.runners import AsyncRunner, BlockingRunner
from pressroom.service import Service

#: How long a request is sent again while the service restarts or asks for a pause.
PATIENCE = timedelta(minutes=2)


class Pressroom:
    """A Pressroom service and a key of it. Threads may share one."""

    def __init__(
        self,
        api_key: str | None = None,
        *,
        url: str | None = None,
        patience: timedelta = PATIENCE,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """The key is `api_key`, else PRESSROOM_API_KEY, else that of a system on this machine.

        The address is `url`, else PRESSROOM_URL, else http://127.0.0.1:8000. A request is sent again for `patience`
        while the service restarts or asks for a pause. Raises Unauthorized when no key is found."""
        self._client = httpx2.Client(transport=transport, **_settings(api_key, url))
        self._service = Service(patience)
        self._runner = BlockingRunner(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    speak = blocking(flows.speech.speak)
    speak_long = blocking(flows.speech.speak_long)
    speak_with_music = blocking(flows.speech.speak_with_music)
    add_music = blocking(flows.speech.add_music)
    stream_speech = streamed(flows.speech.stream_speech)
    voices = blocking(flows.speech.voices)
    lexicon = blocking(flows.speech.lexicon)
    set_lexicon = blocking(flows.speech.set_lexicon)

    transcribe = blocking(flows.transcription.transcribe)
    subtitles = blocking(flows.transcription.subtitles)

    describe = blocking(flows.alt_text.describe)
    describe_batch = blocking(flows.alt_text.describe_batch)

    blog = blocking(flows.blog.blog)

    check_index = blocking(flows.index.check_index)
    submit_index = blocking(flows.index.submit_index)
    index_jobs = blocking(flows.index.index_jobs)
    index_job = blocking(flows.index.index_job)
    index_urls = streamed(flows.index.index_urls)
    export_index = blocking(flows.index.export_index)
    retry_index = blocking(flows.index.retry_index)
    monitors = blocking(flows.index.monitors)
    monitor = blocking(flows.index.monitor)
    create_monitor = blocking(flows.index.create_monitor)
    change_monitor = blocking(flows.index.change_monitor)
    delete_monitor = blocking(flows.index.delete_monitor)
    monitor_changes = streamed(flows.index.monitor_changes)

    submit = blocking(flows.jobs.submit)
    jobs = blocking(flows.jobs.jobs)
    all_jobs = streamed(flows.jobs.all_jobs)
    job = blocking(flows.jobs.job)
    wait = blocking(flows.jobs.wait)
    iter_events = streamed(flows.jobs.iter_events)
    result = blocking(flows.jobs.result)
    cancel = blocking(flows.jobs.cancel)
    retry = blocking(flows.jobs.retry)
    delete = blocking(flows.jobs.delete)

    usage = blocking(flows.account.usage)
    verify_key = blocking(flows.account.verify_key)
    keys = blocking(flows.account.keys)
    create_key = blocking(flows.account.create_key)
    change_key = blocking(flows.account.change_key)
    delete_key = blocking(flows.account.delete_key)

    webhook = blocking(flows.webhooks.webhook)
    set_webhook = blocking(flows.webhooks.set_webhook)
    delete_webhook = blocking(flows.webhooks.delete_webhook)
    rotate_webhook_secret = blocking(flows.webhooks.rotate_webhook_secret)
    webhook_deliveries = streamed(flows.webhooks.webhook_deliveries)
    send_again = blocking(flows.webhooks.send_again)


class AsyncPressroom:
    """The same for asyncio."""

    def __init__(
        self,
        api_key: str | None = None,
        *,
        url: str | None = None,
        patience: timedelta = PATIENCE,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """As for Pressroom."""
        self._client = httpx2.AsyncClient(transport=transport, **_settings(api_key, url))
        self._service = Service(patience)
        self._runner = AsyncRunner(self._client)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    speak = awaited(flows.speech.speak)
    speak_long = awaited(flows.speech.speak_long)
    speak_with_music = awaited(flows.speech.speak_with_music)
    add_music = awaited(flows.speech.add_music)
    stream_speech = async_streamed(flows.speech.stream_speech)
    voices = awaited(flows.speech.voices)
    lexicon = awaited(flows.speech.lexicon)
    set_lexicon = awaited(flows.speech.set_lexicon)

    transcribe = awaited(flows.transcription.transcribe)
    subtitles = awaited(flows.transcription.subtitles)

    describe = awaited(flows.alt_text.describe)
    describe_batch = awaited(flows.alt_text.describe_batch)

    blog = awaited(flows.blog.blog)

    check_index = awaited(flows.index.check_index)
    submit_index = awaited(flows.index.submit_index)
    index_jobs = awaited(flows.index.index_jobs)
    index_job = awaited(flows.index.index_job)
    index_urls = async_streamed(flows.index.index_urls)
    export_index = awaited(flows.index.export_index)
    retry_index = awaited(flows.index.retry_index)
    monitors = awaited(flows.index.monitors)
    monitor = awaited(flows.index.monitor)
    create_monitor = awaited(flows.index.create_monitor)
    change_monitor = awaited(flows.index.change_monitor)
    delete_monitor = awaited(flows.index.delete_monitor)
    monitor_changes = async_streamed(flows.index.monitor_changes)

    submit = awaited(flows.jobs.submit)
    jobs = awaited(flows.jobs.jobs)
    all_jobs = async_streamed(flows.jobs.all_jobs)
    job = awaited(flows.jobs.job)
    wait = awaited(flows.jobs.wait)
    iter_events = async_streamed(flows.jobs.iter_events)
    result = awaited(flows.jobs.result)
    cancel = awaited(flows.jobs.cancel)
    retry = awaited(flows.jobs.retry)
    delete = awaited(flows.jobs.delete)

    usage = awaited(flows.account.usage)
    verify_key = awaited(flows.account.verify_key)
    keys = awaited(flows.account.keys)
    create_key = awaited(flows.account.create_key)
    change_key = awaited(flows.account.change_key)
    delete_key = awaited(flows.account.delete_key)

    webhook = awaited(flows.webhooks.webhook)
    set_webhook = awaited(flows.webhooks.set_webhook)
    delete_webhook = awaited(flows.webhooks.delete_webhook)
    rotate_webhook_secret = awaited(flows.webhooks.rotate_webhook_secret)
    webhook_deliveries = async_streamed(flows.webhooks.webhook_deliveries)
    send_again = awaited(flows.webhooks.send_again)


def _settings(api_key: str | None, url: str | None) -> dict[str, Any]:
    address = find_url(url)
    return {"base_url": address, "headers": {"X-API-Key": find_key(api_key, address)}}
