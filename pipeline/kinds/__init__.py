"""The kinds: one file each, one line each here. This is the place to add a capability."""

import importlib
from collections.abc import Mapping
from typing import Any

from pipeline.errors import NotReady
from pipeline.kind import Kind
from pipeline.kinds.alt_text.alt_text import AltText
from pipeline.kinds.alt_text.batch import AltTextBatch
from pipeline.kinds.blog.metadata import BlogMetadata
from pipeline.kinds.index_check.check import PROVIDERS, IndexCheck
from pipeline.kinds.speech.add_music import AddMusic
from pipeline.kinds.speech.batch import SpeechBatch
from pipeline.kinds.speech.speech import Speech
from pipeline.kinds.speech.stream import SpeechStream
from pipeline.kinds.speech.with_music import SpeechWithMusic
from pipeline.kinds.transcription.transcription import Transcription
from pipeline.settings import Settings

KINDS: tuple[Kind[Any], ...] = (
    AltText(),
    AltTextBatch(),
    BlogMetadata(),
    Speech(),
    SpeechBatch(),
    SpeechStream(),
    SpeechWithMusic(),
    AddMusic(),
    Transcription(),
    IndexCheck(),
    *(IndexCheck(engine) for engine in PROVIDERS),
)

Kinds = Mapping[str, Kind[Any]]


def load_kinds(settings: Settings) -> Kinds:
    """Return all kinds by name: ours, and those that the settings add (`PRESSROOM_KINDS=package.module:Class,…`)."""
    added = [_load(path.strip()) for path in settings.kinds.split(",") if path.strip()]
    return {kind.name: kind.configured(settings) for kind in (*KINDS, *added)}


def queues(kinds: Kinds) -> list[str]:
    """Return the queues that have kinds, each once."""
    return list(dict.fromkeys(kind.queue for kind in kinds.values()))


def _load(path: str) -> Kind[Any]:
    module, _, name = path.partition(":")
    try:
        kind: Kind[Any] = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise NotReady(f"PRESSROOM_KINDS names {path!r}, which can't be loaded: {error}") from error
    return kind
