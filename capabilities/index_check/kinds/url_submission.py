"""Index submission: tells search engines that pages are new, have changed, or are gone."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from capabilities.index_check.kinds.index_check import IndexCheck, UrlInput, new_item
from capabilities.index_check.requests.given import read_urls
from capabilities.index_check.requests.request import (
    MAX_BODY_BYTES,
    MAX_URLS,
    IndexCheckRequest,
    check_urls,
    require_engine,
)
from capabilities.index_check.results.jobs import SUBMIT_KIND
from capabilities.index_check.settings import SubmissionSettings
from pipeline.database import Database, Statement
from pipeline.errors import InvalidRequest
from pipeline.kind import Limits, NewItem
from pipeline.offers.offers import Offers
from pipeline.settings import Settings


class IndexSubmit(IndexCheck):
    """POST /indexing/jobs with `"type": "submit"`. A worker takes a job's URLs all at once.

    Refused unless the operator has set up an engine (docs/indexing.md, Submission)."""

    name = SUBMIT_KIND
    #: None of its own: submissions share the route of checks.
    routes = ()
    handler = "capabilities.index_check.handlers.submit:IndexSubmitHandler"
    summary = "Tell search engines of up to 10,000 URLs; answers at once, with a job."
    example = {"type": "submit", "urls": ["https://www.example.com/"]}
    lanes = ()
    #: One slice for all of a job's URLs: those of a host go out in one call.
    limits = Limits(run=timedelta(minutes=20), body_bytes=MAX_BODY_BYTES, slice_size=MAX_URLS)
    #: The engines that are set up.
    engines: Sequence[str] = ()

    def configured(self, settings: Settings) -> "IndexSubmit":
        kind = IndexSubmit()
        kind.limits = super().configured(settings).limits
        kind.engines = settings.of(SubmissionSettings).set_up
        return kind

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Delete nothing: submissions have no verdicts."""
        return {}

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        """Do nothing: monitors only check."""
        return {}

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse requests if no engine is set up, unknown engines, and invalid URLs."""
        if not self.engines:
            raise InvalidRequest(
                "type submit is not available: the operator has not enabled it. Send check.",
                code="type_not_available",
                field="type",
            )
        require_engine(request.engine, self.engines)
        check_urls(request)

    def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
        named = {"engine": request.engine} if request.engine else {}
        return [new_item(given, named) for given in read_urls(request.urls)]
