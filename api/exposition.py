"""Exposition: what Prometheus reads, the sums of all processes and the load of the queues."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from pipeline.operations.load import Load
from pipeline.operations.metrics import BUCKETS, TOKENS, Sum
from pipeline.operations.pauses import Pause
from pipeline.operations.processes import Process

#: Help texts of the metrics.
HELP = {
    "pressroom_http_requests_total": "HTTP requests answered.",
    "pressroom_http_request_seconds": "Time from request to the end of its answer.",
    "pressroom_items_total": "Items that a worker was done with, by outcome.",
    "pressroom_item_wait_seconds": "Time from an item's submission to its run.",
    "pressroom_item_run_seconds": "Time that an item's run took.",
    TOKENS: "Tokens of delivered items, by engine and use.",
}


def render(
    sums: Iterable[Sum], load: Load | None, processes: Iterable[Process] = (), pauses: Iterable[Pause] = ()
) -> bytes:
    """Return the text that Prometheus reads; without a load the gauges of queues are missing."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families([*_families(sums), *_gauges(load), *_processes(processes), _pauses(pauses)]))
    return generate_latest(registry)


class _Families:
    """Stands for a collector: its metrics are made already."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def _families(sums: Iterable[Sum]) -> Iterator[Metric]:
    for name, parts in groupby(sorted(sums, key=lambda one: one.name), key=lambda one: one.name):
        members = list(parts)
        is_counter = all(member.part == "" for member in members)
        yield _counter(name, members) if is_counter else _histogram(name, members)


def _counter(name: str, members: list[Sum]) -> Metric:
    labels = _label_names(members)
    family = CounterMetricFamily(name, HELP.get(name, name), labels=labels)
    for member in members:
        family.add_metric([member.labels.get(label, "") for label in labels], member.value)
    return family


def _histogram(name: str, members: list[Sum]) -> Metric:
    labels = _label_names(members)
    family = HistogramMetricFamily(name, HELP.get(name, name), labels=labels)

    def values(member: Sum) -> list[str]:
        return [member.labels.get(label, "") for label in labels]

    for series, parts in groupby(sorted(members, key=values), key=values):
        found = {part.part: part.value for part in parts}
        family.add_metric(series, _cumulative(found), sum_value=found.get("sum", 0.0))
    return family


def _cumulative(found: dict[str, float]) -> list[tuple[str, float]]:
    total = 0.0
    buckets = []
    for bound in (*map(str, BUCKETS), "+Inf"):
        total += found.get(bound, 0.0)
        buckets.append((bound, total))
    return buckets


def _gauges(load: Load | None) -> Iterator[Metric]:
    if load is None:
        return
    depth = GaugeMetricFamily("pressroom_queue_items", "Unfinished items of a queue.", labels=["queue", "state"])
    oldest = GaugeMetricFamily(
        "pressroom_queue_oldest_seconds", "Age of the oldest item that is ready to be taken.", labels=["queue"]
    )
    for queue in load.queues:
        depth.add_metric([queue.queue, "ready"], queue.ready)
        depth.add_metric([queue.queue, "waiting"], queue.waiting)
        depth.add_metric([queue.queue, "leased"], queue.leased)
        oldest.add_metric([queue.queue], queue.oldest_seconds)
    yield depth
    yield oldest
    yield GaugeMetricFamily("pressroom_open_jobs", "Jobs that are not finished.", value=load.open_jobs)


def _processes(processes: Iterable[Process]) -> Iterator[Metric]:
    number = GaugeMetricFamily("pressroom_processes", "Processes that run, by what they serve.", labels=["program"])
    memory = GaugeMetricFamily("pressroom_process_memory_bytes", "Memory of each.", labels=["program"])
    found = sorted(processes, key=lambda one: one.program)
    for program, members in groupby(found, key=lambda one: one.program):
        sizes = [one.memory_bytes for one in members]
        number.add_metric([program], len(sizes))
        memory.add_metric([program], sum(sizes))
    if found:
        yield number
        yield memory


def _pauses(pauses: Iterable[Pause]) -> Metric:
    """Count pauses; accounts without their ids."""
    family = GaugeMetricFamily(
        "pressroom_paused",
        "Queues, kinds, providers and accounts that an operator has paused.",
        labels=["scope", "name"],
    )
    named = Counter((one.scope, "" if one.scope == "account" else one.name) for one in pauses)
    for labels, number in named.items():
        family.add_metric(labels, number)
    return family


def _label_names(members: list[Sum]) -> list[str]:
    return sorted({label for member in members for label in member.labels})
