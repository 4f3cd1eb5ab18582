"""Proposing: ordinary jobs make what is proposed, which hold, charge and repeat as all jobs do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from capabilities.alt_text.kinds.batch import MAX_IMAGES, AltTextBatch, AltTextBatchRequest, BatchImage
from capabilities.alt_text.kinds.fields import PictureTexts
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.sites.changes import (
    PAGE,
    Ended,
    Proposal,
    list_ended,
    list_unsubmitted,
    note_job,
    note_outcome,
    propose,
)
from capabilities.sites.connectors.connector import Connector
from capabilities.sites.runs import Run
from capabilities.sites.sites import Site
from capabilities.sites.working.finding import hints_of
from capabilities.sites.working.post_parts import proposal_of, refusal_of, requests_of
from capabilities.speech.kinds.batch import SpeechBatchRequest
from capabilities.speech.kinds.lexicon import LexiconEntry, LexiconTooLong, entries_in
from capabilities.speech.voices.offered_voices import offered_voices
from pipeline.database import Database
from pipeline.errors import Unauthorized
from pipeline.jobs.on_behalf import paying_key, raise_refusal, submission_of
from pipeline.kind import AnyKind, Request, as_json
from pipeline.lifecycle import submit
from pipeline.offers.offers import order_offers, read_offers
from pipeline.settings import Settings

#: Inputs, prices and lanes of a submission.
Items = Sequence[tuple[Mapping[str, Any], int, str | None]]


def submit_pictures(database: Database, run: Run, site: Site, settings: Settings) -> int:
    """Make a job of the next pictures; returns how many they are. Raises PressroomError."""
    limit = min(MAX_IMAGES, settings.of(CaptioningSettings).max_images)
    changes = database.run(list_unsubmitted(run.id, limit))
    if changes:
        language = run.options.get("language") or site.known.language or "en"
        images = [
            BatchImage(
                image_url=one.about["url"],
                mode=run.options.get("mode", "short"),
                language=language,
                **hints_of(one.about),
            )
            for one in changes
        ]
        places = {change.id: place for place, change in enumerate(changes)}
        _submit(database, site, AltTextBatch(), AltTextBatchRequest(images=images), places, settings)
    return len(changes)


async def submit_post(database: Database, run: Run, site: Site, opened: Connector, settings: Settings) -> int:
    """Make the jobs of the next post; returns how many of its parts they make. Raises PressroomError, SiteTrouble."""
    changes = database.run(list_unsubmitted(run.id, PAGE))
    of_post = [one for one in changes if one.target == changes[0].target]
    if not of_post:
        return 0
    values = await opened.read(of_post[0].target)
    if values is None:
        for change in of_post:
            database.run(note_outcome(change.id, "gone", note="It was deleted on the site."))
        return len(of_post)
    refusals = {one.id: note for one in of_post if (note := refusal_of(one, values)) is not None}
    for number, note in refusals.items():
        database.run(note_outcome(number, "failed", note=note))
    possible = [one for one in of_post if one.id not in refusals]
    for kind, request, made in requests_of(possible, values, site, dict(run.options)):
        try:
            _submit(database, site, kind, request, dict.fromkeys((one.id for one in made), 0), settings)
        except LexiconTooLong as refused:
            for change in made:
                database.run(note_outcome(change.id, "failed", note=refused.message))
    return len(of_post)


def _submit(
    database: Database, site: Site, kind: AnyKind, request: Request, places: dict[int, int], settings: Settings
) -> None:
    """Make a job for changes, by the place of each one's item.

    The job and its note commit together: however often a sweep is killed, each change has one job."""
    key = database.run(paying_key(site.account_id))
    if key is None:
        raise Unauthorized("The account has no valid API key to pay with. Create one.")
    submission = submission_of(
        kind,
        request,
        settings,
        account_id=site.account_id,
        api_key_id=key,
        request_id=f"site-{site.id}-{min(places)}",
        source="wordpress" if site.connector == "wordpress" else "web",
    )
    if isinstance(request, SpeechBatchRequest):
        submission = replace(submission, items=_with_lexicon(database, site, request, submission.items, settings))
    with database.transaction() as transaction:
        raise_refusal(transaction.run(submit(submission)), submission)
        if transaction.run(note_job(submission.job_id, places)) != len(places):
            raise RuntimeError("Another sweep has made this job; this one is undone.")


def _with_lexicon(
    database: Database, site: Site, request: SpeechBatchRequest, items: Items, settings: Settings
) -> Items:
    """Return the item of a text with the entries of the account's lexicon that occur in it."""
    from capabilities.speech.routes.lexicon import find_lexicon, usable  # parts of the API, which few sweeps need

    stored = database.run(find_lexicon(site.account_id))
    entries = [LexiconEntry.model_validate(one) for one in (stored and stored.entries) or ()]
    if not entries:
        return items
    offers = database.run(read_offers())
    voice = offered_voices(order_offers(settings, offers)).pick(
        voice_name=request.voice_name, language=request.stated_language, characters=len(request.text)
    )
    found = entries_in(request.text, usable(entries, voice, is_detected=request.is_detected))
    return [({**given, "lexicon": list(map(as_json, found))}, price, lane) for given, price, lane in items]


def settle(database: Database, run: Run, site: Site) -> int:
    """Take over the outputs of ended items; return the number of changes."""
    ended = database.run(list_ended(run.id))
    if ended:
        proposals = [proposal_of(one, site) if run.task == "posts" else _of_picture(one) for one in ended]
        database.run(propose(proposals))
    return len(ended)


def _of_picture(ended: Ended) -> Proposal:
    if ended.output is None:
        error = ended.error or {}
        note = str(error.get("message") or "The job's result was deleted before it was read. Run the command again.")
        return Proposal(ended.change.id, None, note=note)
    output = PictureTexts.model_validate(ended.output)
    text = output.main
    advice = "The engine considers it decorative." if text.decorative else output.advice if text.draft else None
    return Proposal(ended.change.id, text.text, text.confidence, text.draft or text.decorative, advice)
