"""Speed: submissions and round trips of an empty job, each peer's rounds next to rounds of ours."""

import os
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.client import Sample, load, request
from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.findings import ONE_AT_A_TIME, ROUND_TRIPS, SUBMISSIONS, Pair, Speed
from benchmarks.peers.running import RunningPeer, Servers, running_peer
from benchmarks.systems import Running, finish_everything, pressroom, process_tree, wait_for_pool
from pipeline.operations import supervision

ASYNC = {"Prefer": "respond-async"}
#: Seconds of a round by the number of clients.
SUBMITTING = {1: 0.5, 32: 0.6, 256: 0.8}
WAITING = {1: 0.8, 32: 1.0, 256: 1.5}
#: Part of them in a quick run.
QUICK = 0.4
SERVERS = ("postgres", "redis")
#: A first answer needs connections and imports.
WARM_UP = {"connections": 8, "count": 60}
#: After a rest, some programs do first what they were due to do meanwhile.
AFTER_REST = {"connections": 1, "count": 5}

Other = TypeVar("Other")
Figure = TypeVar("Figure")


@dataclass
class Site:
    """A Pressroom and all peers on its servers; only one of them runs at any time."""

    ours: Running
    peers: Sequence[RunningPeer]

    @contextmanager
    def only(self, peer: RunningPeer) -> Iterator[None]:
        """Let one peer run while ours rests."""
        pools = [pool for pool in supervision.pools(self.ours.data) if pool.name not in SERVERS]
        pids = [pid for pool in pools for top in pool.pids for pid in process_tree(top)]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        peer.resume()
        try:
            yield
        finally:
            peer.pause()
            for pid in pids:
                os.kill(pid, signal.SIGCONT)


def measure_speed(folder: Path, *, rounds: int, quick: bool) -> list[Speed]:
    """Measure everything with one set of systems: submissions before there is any worker, then round trips."""
    part = QUICK if quick else 1.0
    with pressroom("--pool", "made_up=0") as running, ExitStack() as stack:
        servers = Servers(running)
        peers = [stack.enter_context(running_peer(peer, servers, folder)) for peer in PEERS]
        for peer in peers:
            peer.pause()
        site = Site(running, peers)
        found = [_submissions(site, rounds, clients, seconds * part) for clients, seconds in SUBMITTING.items()]
        supervision.scale(running.data, "made_up", 1)
        wait_for_pool(running, "made_up", 1)
        for peer in peers:
            peer.resume()
            peer.start_worker()
        _warm_up(site)
        for clients, seconds in WAITING.items():
            found += _round_trips(site, rounds, clients, seconds * part)
    return found


def alternate(
    peers: Sequence[Other],
    rounds: int,
    measure_ours: Callable[[], Figure],
    measure_peer: Callable[[Other], Figure | None],
) -> list[tuple[Other, Figure, Figure | None]]:
    """Measure ours between each two peers, so that every figure of theirs has one of ours next to it.

    The peers take turns at being first. Returns each peer's rounds with ours; None is one that failed."""
    found: list[tuple[Other, Figure, Figure | None]] = []
    for number in range(rounds):
        first = number % len(peers)
        turned = [*peers[first:], *peers[:first]]
        for place in range(0, len(turned), 2):
            two = turned[place : place + 2]
            before = measure_peer(two[0])
            ours = measure_ours()
            found.append((two[0], ours, before))
            found += [(peer, ours, measure_peer(peer)) for peer in two[1:]]
    return found


def _submissions(site: Site, rounds: int, clients: int, seconds: float) -> Speed:
    sent = _ours_sent(site, ASYNC)

    def ours() -> Sample:
        sample = load(site.ours.address, sent, connections=clients, seconds=seconds).expect(202)
        finish_everything(site.ours)
        return sample

    def theirs(peer: RunningPeer) -> Sample | None:
        with site.only(peer):
            sample = _try(peer, 202, ASYNC, connections=clients, seconds=seconds)
            peer.empty_queue()
        return sample

    return _speed(SUBMISSIONS, clients, "/s", alternate(site.peers, rounds, ours, theirs), lambda one: one.rate)


def _round_trips(site: Site, rounds: int, clients: int, seconds: float) -> list[Speed]:
    """Return the rates, and with one client the median times as well."""
    sent = _ours_sent(site, {})

    def ours() -> Sample:
        load(site.ours.address, sent, **AFTER_REST).expect(200)
        return load(site.ours.address, sent, connections=clients, seconds=seconds).expect(200)

    def theirs(peer: RunningPeer) -> Sample | None:
        with site.only(peer):
            _try(peer, 200, {}, **AFTER_REST)
            return _try(peer, 200, {}, connections=clients, seconds=seconds)

    found = alternate(site.peers, rounds, ours, theirs)
    speeds = [_speed(ROUND_TRIPS, clients, "/s", found, lambda one: one.rate)]
    if clients == 1:
        speeds.append(_speed(ONE_AT_A_TIME, clients, "ms", found, lambda one: one.percentile(50)))
    return speeds


def _speed(
    what: str,
    clients: int,
    unit: str,
    found: Sequence[tuple[RunningPeer, Sample, Sample | None]],
    figure: Callable[[Sample], float],
) -> Speed:
    pairs: dict[str, list[Pair]] = defaultdict(list)
    failed: Counter[str] = Counter()
    for peer, ours, theirs in found:
        if theirs is None:
            failed[peer.peer.name] += 1
        else:
            pairs[peer.peer.name].append((figure(ours), figure(theirs)))
    return Speed(what, clients, unit, dict(pairs), dict(failed))


def _ours_sent(site: Site, headers: dict[str, str]) -> bytes:
    return request(site.ours.address, "/made-up", b'{"count":1}', {"X-API-Key": site.ours.key, **headers})


def _try(peer: RunningPeer, status: int, headers: dict[str, str], **how: float) -> Sample | None:
    """Return a round of a peer; None when it failed."""
    try:
        return load(peer.address, request(peer.address, "/jobs", b"{}", headers), **how).expect(status)  # type: ignore[arg-type]
    except (OSError, AssertionError) as error:
        print(f"  {peer.peer.name}: {str(error)[:300]}", flush=True)
        return None


def _warm_up(site: Site) -> None:
    load(site.ours.address, _ours_sent(site, {}), **WARM_UP).expect(200)
    for peer in site.peers:
        _try(peer, 200, {}, **WARM_UP)
        peer.pause()
