"""Calls: the Python package's method for each operation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.try_pages import TryPage
from pipeline.registry import Kinds


@dataclass(frozen=True, slots=True)
class Method:
    """A method; it takes the path's ids as positional arguments, then the body."""

    name: str
    #: The field or file that is positional; others are keyword arguments, renamed by `rename`.
    first: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)
    #: True if it takes the whole body as one argument.
    takes_body: bool = False
    #: True if it returns an iterator.
    is_stream: bool = False
    #: The attribute of the result to print.
    shows: str = ""
    #: Fields of the body that its name implies.
    leaves_out: tuple[str, ...] = ()


#: Methods by operation id; those of kinds with a try page come from the page.
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

#: Fields implied by the names of methods.
LEFT_OUT = {"check_index": ("type",)}


def methods_of(document: Mapping[str, Any], kinds: Kinds, pages: Iterable[TryPage]) -> dict[str, Method]:
    """Return the methods by operation id: those above, and those of the try pages."""
    found = dict(METHODS)
    for trial in (trial for page in pages for trial in page.trials):
        kind, call = kinds.get(trial.kind), trial.call
        if kind is not None and call.method is not None:
            operation = document["paths"][kind.routes[0]]["post"]["operationId"]
            left_out = LEFT_OUT.get(call.method, ())
            found[operation] = Method(call.method, call.first or "", call.rename, leaves_out=left_out)
    return found
