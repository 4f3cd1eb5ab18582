"""Post parts: excerpts, tags, categories, covers and audio of posts, made by the jobs of blog posts and of speech."""

from collections.abc import Callable, Sequence
from typing import Any

from capabilities.blog.engines.metadata.source import without_shortcodes
from capabilities.blog.kinds.metadata import (
    MAX_CONTENT,
    MAX_TITLE,
    BlogMetadata,
    BlogMetadataOutput,
    BlogMetadataRequest,
)
from capabilities.sites.changes import Change, Ended, Proposal
from capabilities.sites.connectors.connector import Connector, Values
from capabilities.sites.markup import headings_of, paragraphs_of
from capabilities.sites.sites import Site
from capabilities.sites.working.writing import Outcome, Plan
from capabilities.speech.kinds.batch import MAX_CHARACTERS, SpeechBatch, SpeechBatchRequest
from capabilities.speech.kinds.fields import AudioFile
from pipeline.errors import Gone
from pipeline.kind import AnyKind, Request

#: Tags of a post.
MOST_TAGS = 8
#: Confidence below which the engine says itself that a person should choose the category.
SURE = 0.5


def requests_of(
    changes: Sequence[Change], values: Values, site: Site, options: dict[str, Any]
) -> list[tuple[AnyKind, Request, list[Change]]]:
    """Return the jobs that make the chosen parts of one post: one for all of its texts and cover, one for its audio."""
    spoken = [one for one in changes if one.field == "audio"]
    made = [one for one in changes if one.field != "audio"]
    language = options.get("language") or site.known.language
    found: list[tuple[AnyKind, Request, list[Change]]] = []
    if made:
        fields = {"language": language} if language else {}
        content = values["content"][:MAX_CONTENT] or None
        post = BlogMetadataRequest(title=_title(made[0])[:MAX_TITLE], content=content, **fields)
        found.append((BlogMetadata(), post, made))
    if spoken:
        fields = {name: options[name] for name in ("voice_name", "language") if options.get(name)}
        request = SpeechBatchRequest(text=_spoken_text(spoken[0], values), plain_text=True, timestamps=True, **fields)
        found.append((SpeechBatch(), request, spoken))
    return found


def refusal_of(change: Change, values: Values) -> str | None:
    """Return why a part can't be made of a post; None: it can."""
    if change.field != "audio" or (characters := len(_spoken_text(change, values))) <= MAX_CHARACTERS:
        return None
    return f"The post has {characters:,} characters; audio takes at most {MAX_CHARACTERS:,}. Speak parts by /tts/batch."


def _title(change: Change) -> str:
    return str(change.about.get("page") or "Untitled")


def _spoken_text(change: Change, values: Values) -> str:
    return f"{_title(change)}.\n\n{paragraphs_of(without_shortcodes(values['content']))}"


def proposal_of(ended: Ended, site: Site) -> Proposal:
    """Return a part of a post from the output of its job's item."""
    change, given = ended.change, ended.output
    if given is None:
        note = (ended.error or {}).get("message") or "The job's result was deleted before it was read."
        return Proposal(change.id, None, note=str(note))
    if change.field == "audio":
        sound = AudioFile.model_validate(given)
        heard = sound.times.sentences if sound.times else ()
        about = {
            "artifact": sound.artifact,
            "seconds": round(sound.duration_seconds),
            "voice": sound.voice,
            "language": site.known.language,
            "sentences": [(one.start, one.end, one.text) for one in heard],
        }
        # The words are the author's own, so there is nothing to be unsure of.
        return Proposal(change.id, about, None if sound.warning else 1.0, note=sound.warning)
    made = BlogMetadataOutput.model_validate(given)
    # The engine measures how well it has understood the post by its category.
    sure, note = made.category_confidence, " ".join(made.warnings) or None
    match change.field:
        case "excerpt":
            return Proposal(change.id, made.excerpt, sure, note=note)
        case "tags":
            return Proposal(change.id, _own_first(made.tags, change, site), sure, note=note)
        case "categories":
            return _category(change, made, site)
    if not made.images:
        return Proposal(change.id, None, note="No picture could be made.")
    image = made.images[0]
    cover = {"artifact": image.artifact, "alt_text": image.description, "content_type": image.content_type}
    return Proposal(change.id, cover, sure, note=made.image_note)


def _own_first(made: Sequence[str], change: Change, site: Site) -> list[str]:
    """Return tags of the site's own list that the post mentions, and then the engine's, in the site's spelling."""
    own = {name.casefold(): name for name in site.known.tags}
    tags = [*change.about.get("own_tags", ()), *(own.get(name.casefold(), name) for name in made)]
    return list({name.casefold(): name for name in tags}.values())[:MOST_TAGS]


def _category(change: Change, made: BlogMetadataOutput, site: Site) -> Proposal:
    """Return a category of the site's own list, by the engine's category or else its tags."""
    own = {name.casefold(): name for name in site.known.categories}
    for name in (made.category, *made.tags):
        if (found := own.get(name.casefold())) is not None:
            sure = made.category_confidence if name == made.category else SURE
            return Proposal(change.id, [found], sure, draft=(sure or 0) < SURE)
    note = "The site has no such category yet; writing it creates one."
    return Proposal(change.id, [made.category], made.category_confidence, draft=True, note=note)


class FilePart:
    """A cover or an audio: a file is added to the media library, and then the post shows it.

    `written` has the file as `made` and, of an audio, the `block` that plays it."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    async def plan(self, site: Connector, change: Change, values: Values) -> Plan | Outcome:
        """Add the file, and return what shows it."""
        known = change.written or {}
        if change.field == "cover":
            if known and values["cover"] == known["made"]:
                return Outcome("written", known)
            if values["cover"] != change.before:
                return Outcome("conflict", note=f"Somebody else chose a cover first, so it stays: {values['cover']}")
        elif "<audio" in values["content"]:
            is_ours = bool(known) and known["block"] in values["content"]
            note = "Somebody else added audio first, so it stays."
            return Outcome("written", known) if is_ours else Outcome("conflict", note=note)
        if known:
            await site.remove(known["made"])  # of a write that did not come to its end
        try:
            content = self._read(change.proposed["artifact"])
        except Gone:  # a review that took longer than results are kept must not stop its run for ever
            return Outcome("failed", note="The file was deleted, as results are not kept for ever. Propose it again.")
        kind = change.proposed.get("content_type", "audio/mpeg")
        suffix = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}.get(kind, "mp3")
        # Its own name, so that a file that a kill has left without a note is found again. Changes of other systems of
        # ours, such as one before a new installation, have equal numbers.
        name = f"{change.target.replace('/', '-')}-{change.field}-{change.run_id.hex[:12]}-{change.id}.{suffix}"
        made, url = await site.upload(name, content, kind, post=change.target)
        shown_by = "cover" if change.field == "cover" else "content"
        now = await site.read(change.target)  # an upload takes up to a minute
        if now is None or now[shown_by] != values[shown_by]:
            await site.remove(made)
            return Outcome("conflict", note="Somebody else changed the post first, so it stays unchanged.")
        if change.field == "cover":
            await site.write(made, {"alt_text": change.proposed["alt_text"]})
            return Plan({"cover": made}, {"made": made})
        block = site.player(made, url, values["content"])
        written = {"made": made, "url": url, "block": block, "headings": headings_of(values["content"])}
        return Plan({"content": block + values["content"]}, written)

    def settle(self, change: Change, plan: Plan, values: Values) -> Outcome:
        """Return the addition."""
        return Outcome("written", plan.written)

    async def undo(self, site: Connector, change: Change, values: Values) -> Outcome:
        """Take the file out of the post, and delete it."""
        known = change.written
        if change.field == "cover":
            if values["cover"] == known["made"]:
                await site.write(change.target, {"cover": change.before})
        elif known["block"] in values["content"]:
            await site.write(change.target, {"content": values["content"].replace(known["block"], "", 1)})
        elif "<audio" in values["content"]:
            return Outcome("conflict", note="Somebody changed the player since, so it stays.")
        await site.remove(known["made"])
        return Outcome("undone")
