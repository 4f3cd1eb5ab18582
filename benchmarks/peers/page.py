"""Page: docs/benchmarks.md and its plots, from findings and page.md beside this file.

`python -m benchmarks.peers.page` writes it again from the findings of the last full run."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from benchmarks.environments import CACHE
from benchmarks.peers.bars import Bar, Panel, draw
from benchmarks.peers.catalogue import PEERS
from benchmarks.peers.findings import OURS, ROUND_TRIPS, SUBMISSIONS, Findings, Loss, Speed, Spread
from benchmarks.report import Table
from scripts.system.programs import ROOT

DOCS = ROOT / "docs"
TEXT = Path(__file__).with_name("page.md")
#: Each plot's file beside the page, and its measurement.
PLOTS = {"pictures/benchmarks-round-trips.svg": ROUND_TRIPS, "pictures/benchmarks-submissions.svg": SUBMISSIONS}
NAMES = (OURS, *(peer.name for peer in PEERS))
NONE = "–"


def write_page(findings: Findings, folder: Path) -> None:
    """Write the page and its plots into a folder."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for file, what in PLOTS.items():
        (folder / file).write_text(plot(findings, what))
    (folder / "benchmarks.md").write_text(page(findings))


def page(findings: Findings) -> str:
    """Return the page."""
    return Template(TEXT.read_text()).substitute(
        summary=summary(findings),
        machine=findings.machine,
        versions=", ".join(f"{name} {findings.versions[name]}" for name in findings.versions if name not in NAMES),
        rounds=findings.rounds,
        round_trips=rates(findings, ROUND_TRIPS),
        submissions=rates(findings, SUBMISSIONS),
        failed=failed(findings),
        losses=losses(findings),
        patience=f"{findings.patience:g}",
        kills=max((loss.kills for loss in findings.losses), default=0),
    )


def summary(findings: Findings) -> str:
    """Return the sentence that answers the page's question: round trips of 32 clients, and jobs lost after kills."""
    speeds = [speed for speed in findings.speeds if speed.what == ROUND_TRIPS and speed.clients == 32]
    ratios = [ratio for speed in speeds for peer in PEERS if (ratio := speed.ratio(peer.name)) is not None] or [0.0]
    ours = [loss for loss in findings.losses if loss.name == OURS]
    theirs = [loss for loss in findings.losses if loss.name != OURS]
    lost, accepted = sum(loss.lost for loss in ours), sum(loss.submitted for loss in ours)
    return (
        f"With 32 clients Pressroom makes {min(ratios):.2f} to {max(ratios):.1f} times as many round trips as the"
        f" others. It lost {lost} of {accepted:,} jobs when its worker was killed;"
        f" {sum(loss.lost > 0 for loss in theirs)} of the {len(theirs)} other set-ups lost some."
    )


def rates(findings: Findings, what: str) -> str:
    """Return a table of median rates: ours first, then each peer with the ratio ours / theirs."""
    speeds = [speed for speed in findings.speeds if speed.what == what and speed.unit == "/s"]
    head = ["", *(_clients(speed) for speed in speeds), *(f"ours / theirs, {speed.clients}" for speed in speeds)]
    rows = [
        (
            _label(name, findings),
            *(_median(speed, name) for speed in speeds),
            *(_ratio(speed, name) for speed in speeds),
        )
        for name in NAMES
    ]
    return markdown(head, rows)


def failed(findings: Findings) -> str:
    """Return the sentence that names the peers whose rounds failed."""
    told = [
        f"{name}: {times} of {findings.rounds} rounds of {speed.what.lower()} with {_clients(speed)}"
        for speed in findings.speeds
        for name, times in speed.failed.items()
    ]
    return f"Failed, and left out: {'; '.join(told)}." if told else "No round of any of them failed."


def losses(findings: Findings) -> str:
    """Return the table of kills."""
    head = ("", "accepted", "with a result", "failed", "lost", "done twice", "begun again", "last result after")
    return markdown(head, [_loss(loss, findings) for loss in sorted(findings.losses, key=_order)])


def _order(loss: Loss) -> tuple[int, bool]:
    return NAMES.index(loss.name), loss.by_default


def _loss(loss: Loss, findings: Findings) -> tuple[str, ...]:
    when = NONE if loss.lost else f"{loss.seconds:.0f} s"
    counts = (loss.submitted, loss.results, loss.failed, loss.lost, loss.done_twice, loss.begun_again)
    name = _label(loss.name, findings) + (", by default" if loss.by_default else "")
    return name, *map(str, counts), when


def plot(findings: Findings, what: str) -> str:
    """Return a plot of rates: a panel for each number of clients."""
    speeds = [speed for speed in findings.speeds if speed.what == what and speed.unit == "/s"]
    panels = [Panel(f"{what} a second, {_clients(speed)}", list(_bars(speed))) for speed in speeds]
    return draw(f"{what} a second: medians with the lowest and highest round", panels)


def _bars(speed: Speed) -> Iterator[Bar]:
    for name in NAMES:
        spread = speed.spread(name)
        if spread is None:
            yield Bar(name, "failed")
        else:
            yield Bar(name, _said(spread, speed.unit), spread.median, spread.low, spread.high, name == OURS)


def tables(findings: Findings) -> Iterator[Table]:
    """Return the same tables for the terminal."""
    for speed in findings.speeds:
        table = Table(
            f"{speed.what}, {_clients(speed)}", "The peer stands under raw limit; the ratio is ours / theirs."
        )
        for peer in PEERS:
            if pairs := speed.pairs.get(peer.name):
                table.compare(peer.name, *zip(*pairs, strict=True), unit=speed.unit)
        yield table
    table = Table("Lost after kills")
    for loss in sorted(findings.losses, key=_order):
        said = f"{loss.lost} of {loss.submitted} lost, {loss.done_twice} done twice, {loss.begun_again} begun again"
        table.say(loss.name + (", by default" if loss.by_default else ""), said)
    yield table


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _clients(speed: Speed) -> str:
    return "1 client" if speed.clients == 1 else f"{speed.clients} clients"


def _label(name: str, findings: Findings) -> str:
    return f"**{OURS}**" if name == OURS else f"{name} {findings.versions[name]}"


def _median(speed: Speed, name: str) -> str:
    spread = speed.spread(name)
    return f"{spread.median:,.0f}{speed.unit}" if spread else "failed"


def _said(spread: Spread, unit: str) -> str:
    digits = 1 if unit == "ms" else 0
    median, low, high = (f"{figure:,.{digits}f}" for figure in (spread.median, spread.low, spread.high))
    return f"{median}{' ms' if unit == 'ms' else unit} [{low} – {high}]"


def _ratio(speed: Speed, name: str) -> str:
    ratio = None if name == OURS else speed.ratio(name)
    return "" if ratio is None else f"{ratio:.2f}"


if __name__ == "__main__":
    write_page(Findings.read(CACHE / "findings.json"), DOCS)
