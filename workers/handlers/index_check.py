"""Index check: one URL after the other is asked of a search provider, and its answer kept before the next."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline import pacing
from pipeline.database import Database, Statement
from pipeline.errors import NotReady, PressroomError
from pipeline.kind import Done, Failed, Outcome, Release, Retry, Task
from pipeline.kinds.index_check import kind_name
from pipeline.log import get_logger
from pipeline.offers import Offer
from pipeline.settings import Settings
from pipeline.urls import match_key
from workers.engines.registry import load_engines
from workers.engines.search.client import PageTooLarge, SearchClient, Unreachable
from workers.engines.search.pages import Query, Reading
from workers.engines.search.provider import Provider
from workers.engines.search.resting import read_ladder
from workers.engines.search.verdict import UNUSABLE, Verdict, classify
from workers.handlers.turns import Turn, Turns

log = get_logger(__name__)

FAMILY = "search"
#: An API that names its own time, and one as short as this, has a limit a second; it is no block.
BRIEF = timedelta(minutes=1)
#: Tries of a URL whose providers can't be reached, and the longest wait between them.
MAX_TRIES = 4
LONGEST_WAIT = timedelta(minutes=1)

MESSAGES = {
    "captcha": "the search engine asked for a captcha",
    "throttled": "the search engine refused more queries for now",
    "engines_blocked": "the search engines behind it were blocked",
    "transport": "the search engine could not be reached",
    "config": "the search provider refused our key or request",
    "consent_required": "the search engine asked for consent",
    "js_required": "the search engine wants JavaScript",
    "opaque_links": "the addresses of the results can't be read",
    "unrecognised_page": "the page was none that we know",
    "page_too_large": "the page did not end",
    "query_too_long": "the URL is too long for the search engine's queries",
}


class UrlUnchecked(PressroomError):
    """No provider gave an answer about a URL."""

    code = "unchecked"


@dataclass
class Standing:
    """How far the check of a URL is; kept as its item's checkpoint."""

    blocked: int = 0  # rounds in which all providers blocked it
    form: int = 0  # of the query, at `provider`
    provider: str = ""
    erred: list[str] = field(default_factory=list)  # providers that could not tell

    @classmethod
    def of(cls, checkpoint: Mapping[str, Any] | None) -> "Standing":
        """Read it from a checkpoint."""
        return cls(**checkpoint) if checkpoint else cls()


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, who was asked, and the verdict."""

    provider: Provider
    query: Query
    verdict: Verdict

    def raw_result(self) -> dict[str, Any]:
        """Return what a URL's record says of it (SPEC.md, raw_result); no address that may hold a key."""
        verdict = self.verdict
        found: dict[str, Any] = {
            "reason": verdict.reason,
            "code": verdict.code,
            "provider": self.provider.name,
            "query": self.query.text,
            "checked_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "matched_url": verdict.match.url,
        }
        if verdict.reason == "indexed":
            found["proofUrl"] = self.provider.proof_url(self.query)
        if verdict.match.near:
            found["near_matches"] = [{"url": url, "relation": relation} for url, relation in verdict.match.near]
        return found


class IndexCheckHandler:
    """Takes one URL at a time into each slot, when a provider's pace allows."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self.slots = settings.search.slots
        self._settings = settings.search
        self._all = settings
        self._providers: dict[str, Provider] = {}
        self._needs: dict[str, str] = {}
        self._lanes: dict[str, list[str]] = {}
        self._captcha_ladder = read_ladder(settings.search.captcha_minutes)
        self._throttle_ladder = read_ladder(settings.search.throttle_minutes)

    def use(self, database: Database) -> None:
        """Take the database that paces, breakers and verdicts are in."""
        self._database = database

    def setup(self) -> None:
        """Find out which providers can be asked. Raises NotReady when none can."""
        for provider in load_engines(self._all, FAMILY):
            if (needs := provider.readiness()) is not None:
                self._needs[provider.name] = needs
            else:
                self._providers[provider.name] = provider
        if not self._providers:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))
        self._client = SearchClient(self._settings)
        names = list(self._providers)
        self._lanes = {kind_name(None): names, **{kind_name(name): [name] for name in names}}
        paces = {name: provider.pace for name, provider in self._providers.items()}
        busy_for = timedelta(seconds=1.5 * self._settings.limit_seconds)
        self._turns = Turns(self._database, paces, self._lanes, busy_for=busy_for)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def offers(self) -> Sequence[Offer]:
        """Return the providers."""
        ready = [Offer(FAMILY, name, ready=True) for name in self._providers]
        return [*ready, *(Offer(FAMILY, name, ready=False, needs=needs) for name, needs in self._needs.items())]

    def admit(self, kinds: Sequence[str]) -> Sequence[str]:
        """Return the kinds of which a provider may be asked now."""
        return self._turns.admit(kinds)

    def claimed(self, kind: str | None) -> None:
        """Keep the turn of the kind that was claimed."""
        self._turns.claimed(kind)

    def pause(self) -> timedelta | None:
        """Return how long it will be until a provider may be asked."""
        return self._turns.pause()

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Check each URL."""
        return [self._check(task) for task in tasks]

    def _check(self, task: Task) -> Outcome:
        kind = kind_name(task.input.get("engine"))
        standing = Standing.of(task.checkpoint)
        left = [name for name in self._lanes.get(kind, ()) if name not in standing.erred]
        turn = self._turns.of(kind)
        if turn is not None and turn.provider is not None and turn.provider not in left:
            self._turns.give_back(turn)  # it could not tell before: another one is asked
            turn = None
        asked: Asked | None = None
        while True:
            if turn is None:
                turn = self._turns.take(left) if left else Turn(None, reason="engine_unavailable")
            if turn is None:
                return self._put_back(task, standing, left)
            if turn.provider is None:
                return self._fail(task, asked, turn.reason or "engine_unavailable")
            if (known := self._known(task, turn)) is not None:
                return known
            asked = self._ask(task.input["url"], self._providers[turn.provider], standing)
            turn = None
            if asked.verdict.ask_again:
                continue
            if asked.verdict.is_answer:
                return self._answer(task, asked)
            if asked.verdict.reason == "rate_limited":
                if not self._note_block(asked):
                    return self._put_back(task, standing, left)
                turn = self._turns.take(left)
                if turn is not None and turn.provider is not None and turn.provider != asked.provider.name:
                    continue  # another one takes over
                self._turns.give_back(turn)
                standing.blocked += 1
                if standing.blocked >= self._settings.rounds:
                    return self._fail(task, asked, asked.verdict.code)
                return self._put_back(task, standing, left)
            self._note_error(asked)
            left.remove(asked.provider.name)
            if left:
                standing.erred.append(asked.provider.name)
            elif asked.verdict.code == "transport" and task.attempts + 1 < MAX_TRIES:
                return self._retry(task, asked)
            else:
                return self._fail(task, asked, asked.verdict.code)

    def _known(self, task: Task, turn: Turn) -> Outcome | None:
        """Return an answer that is still fresh."""
        if not self._settings.fresh_days or turn.provider is None:
            return None
        provider = self._providers[turn.provider]
        within = timedelta(days=self._settings.fresh_days)
        found = self._database.run(pacing.find_verdict([provider.name], page_of(task.input["url"]), within=within))
        if found is None:
            return None
        self._turns.give_back(turn)
        return Done({**found, "reused": True}, engine=provider.name)

    def _ask(self, url: str, provider: Provider, standing: Standing) -> Asked:
        """Ask a provider in the form that is next, and judge what it says."""
        queries = provider.queries(url)
        if standing.provider != provider.name:
            standing.provider, standing.form = provider.name, 0
        if standing.form >= len(queries):
            return Asked(provider, Query("site", url), Verdict("error", "query_too_long"))
        query = queries[standing.form]
        verdict = self._verdict(url, provider, query)
        if verdict.ask_again:
            self._database.run(pacing.answered(provider.pace_name))
            standing.form += 1
            if standing.form >= len(queries):
                verdict = Verdict(verdict.reason, verdict.code, verdict.match)
        return Asked(provider, query, verdict)

    def _verdict(self, url: str, provider: Provider, query: Query) -> Verdict:
        try:
            reply = self._client.ask(provider.sent(query))
        except Unreachable as error:
            log.info("provider not reached", provider=provider.name, reason=error.message)
            return classify(None, Reading(), url=url, form=query.form, traits=provider.traits)
        except PageTooLarge:
            return Verdict("error", "page_too_large")
        return classify(
            reply,
            provider.parse(reply),
            url=url,
            form=query.form,
            traits=provider.traits,
            accept_variants=self._settings.accept_variants,
        )

    def _answer(self, task: Task, asked: Asked) -> Outcome:
        output = asked.raw_result()
        self._database.run(
            pacing.answered_with(
                asked.provider.pace_name, page_of(task.input["url"]), output, provider=asked.provider.name
            )
        )
        return Done(output, engine=asked.provider.name)

    def _note_block(self, asked: Asked) -> bool:
        """Let a provider rest; false when it is only its own limit a second."""
        self._turns.forget()
        verdict, provider = asked.verdict, asked.provider
        if provider.traits.is_api and verdict.code == "throttled" and timedelta() < verdict.rest <= BRIEF:
            self._database.run(pacing.paused(provider.pace_name, verdict.rest))
            return False
        ladder = self._throttle_ladder if verdict.code == "throttled" else self._captcha_ladder
        rest = self._database.run(
            pacing.blocked(
                provider.pace_name,
                ladder=ladder,
                retry_after=verdict.rest,
                most=timedelta(hours=self._settings.max_rest_hours),
                reason=verdict.code,
            )
        )
        log.warning("provider rests", provider=provider.name, reason=verdict.code, seconds=round(rest.total_seconds()))
        return True

    def _note_error(self, asked: Asked) -> None:
        self._turns.forget()
        name, code = asked.provider.pace_name, asked.verdict.code
        off_for = timedelta(minutes=self._settings.off_minutes)
        statement: Statement[None] = pacing.stumbled(name)
        if code == "config":
            log.error("provider out of use", provider=asked.provider.name, reason=code)
            statement = pacing.put_off(name, off_for=off_for, reason=code)
        elif code in UNUSABLE:
            statement = pacing.struck(name, limit=self._settings.strikes, off_for=off_for, reason=code)
        elif code == "transport":
            statement = pacing.paused(name, timedelta(seconds=self._settings.unreachable_seconds))
        self._database.run(statement)

    def _put_back(self, task: Task, standing: Standing, left: Sequence[str]) -> Outcome:
        """Give the URL back: it stays ready behind the gate of its lane, or waits for who is left."""
        task.save(asdict(standing))
        return Release(self._turns.wait(left) if standing.erred else timedelta())

    def _retry(self, task: Task, asked: Asked) -> Outcome:
        wait = min(LONGEST_WAIT, timedelta(seconds=self._settings.unreachable_seconds) * 2**task.attempts)
        return Retry(wait, failure(asked, asked.verdict.code))

    def _fail(self, task: Task, asked: Asked | None, code: str) -> Outcome:
        if asked is not None:
            return Failed(failure(asked, code))
        message = f"The URL was not checked: {MESSAGES.get(code, 'no search provider can be used now')}."
        return Failed(UrlUnchecked(message, code=code, reason="error"))


def failure(asked: Asked, code: str) -> UrlUnchecked:
    """Return why a URL has no answer, with what its record shows."""
    shown = {name: value for name, value in asked.raw_result().items() if name != "code"}
    message = f"The URL was not checked: {MESSAGES.get(code, 'the search engine failed')}. Nothing was charged for it."
    return UrlUnchecked(message, code=code, **shown)


def page_of(url: str) -> bytes:
    """Return what a page's verdicts are kept under."""
    return hashlib.sha256((match_key(url) or url).encode()).digest()
