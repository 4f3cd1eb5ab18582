"""Calls: which method of the Python package asks for which operation. Others are asked for by HTTP alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.try_pages import TryPage
from pipeline.registry import Kinds


@dataclass(frozen=True, slots=True)
class Method:
    """A method, which takes the ids of the path by their places, and then the body."""

    name: str
    #: The field of the body, or the file, given by its place; others have their own names, or those of `rename`.
    first: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    #: Whether it takes the body as it is.
    takes_body: bool = False
    #: Whether what it returns is iterated over.
    is_stream: bool = False
    #: What of it is shown, where that is not all.
    shows: str = ""
    #: Fields of the body that are no options of it: its name says them.
    leaves_out: tuple[str, ...] = ()


#: Methods of operations that are no kinds, by their ids, and of kinds that no page of the dashboard tries by itself.
METHODS = {
    "post_batch": Method("describe_batch", first="images"),
    "get_jobs": Method("jobs"),
    "get_job": Method("job"),
    "get_job_result": Method("result", shows=".headers"),
    "get_job_events": Method("iter_events", is_stream=True),
    "post_job_cancel": Method("cancel"),
    "post_job_retry": Method("retry"),
    "delete_job": Method("delete"),
    "get_voices": Method("voices"),
    "get_lexicon": Method("lexicon"),
    "put_lexicon": Method("set_lexicon", first="entries"),
    "get_indexing_jobs": Method("index_jobs"),
    "get_indexing_job": Method("index_job"),
    "get_indexing_job_urls": Method("index_urls", is_stream=True),
    "get_indexing_job_export": Method("export_index", shows=".text"),
    "post_indexing_job_retry": Method("retry_index"),
    "get_indexing_monitors": Method("monitors"),
    "post_indexing_monitors": Method("create_monitor", first="urls"),
    "get_indexing_monitor": Method("monitor"),
    "patch_indexing_monitor": Method("change_monitor", takes_body=True),
    "delete_indexing_monitor": Method("delete_monitor"),
    "get_indexing_monitor_changes": Method("monitor_changes", is_stream=True),
    "get_usage": Method("usage"),
    "post_verify_key": Method("verify_key", first="api_key"),
    "get_keys": Method("keys"),
    "post_keys": Method("create_key", first="name"),
    "patch_key": Method("change_key", takes_body=True),
    "delete_key": Method("delete_key"),
}


#: What the names of methods say that their routes are told by a field.
LEFT_OUT = {"check_index": ("type",)}


def methods_of(document: Mapping[str, Any], kinds: Kinds, pages: Iterable[TryPage]) -> dict[str, Method]:
    """Return the methods by ids of operations: those above, and those that the pages of kinds name."""
    found = dict(METHODS)
    for trial in (trial for page in pages for trial in page.trials):
        kind, call = kinds.get(trial.kind), trial.call
        if kind is not None and call.method is not None:
            operation = document["paths"][kind.routes[0]]["post"]["operationId"]
            left_out = LEFT_OUT.get(call.method, ())
            found[operation] = Method(call.method, call.first or "", call.rename, leaves_out=left_out)
    return found
