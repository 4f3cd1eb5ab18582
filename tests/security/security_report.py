"""Security report: what a run with hostile files found, as out/security.md, which docs/make_security.py takes over."""

import json
from pathlib import Path

from hostile_runs import Findings

ROWS = (
    ("files sent", lambda found: f"{found['files']:,} ({found['bytes'] / 1e6:,.0f} MB)"),
    ("ended with a result", lambda found: f"{found['outcomes'].get('result', 0):,}"),
    ("refused, by code", lambda found: _listed(found["outcomes"])),
    ("ended otherwise", lambda found: f"{len(found['failures']):,}"),
    ("deaths of the worker", lambda found: f"{found['deaths']}"),
    ("hangs", lambda found: f"{found['hangs']}"),
    ("peak memory of the worker (before the first file)", lambda found: _memory(found)),
    ("peak memory of one ffmpeg", lambda found: f"{found['ffmpeg_peak_bytes'] / 2**20:,.0f} MiB"),
)


def write_report(found: Findings, folder: Path, *, seed: str, measured: str) -> None:
    """Write security.md into a folder: the findings of one test, and those that are there of the same measurement.

    `measured` says when, of which commit and on what machine."""
    folder.mkdir(exist_ok=True)
    told_of = {"seed": seed, "measured": measured}
    (folder / f"hostile-{found.what}.json").write_text(json.dumps(vars(found) | told_of, indent=1))
    there = [json.loads(path.read_text()) for path in folder.glob("hostile-*.json")]
    parts = {part["what"]: part for part in there if told_of.items() <= part.items()}
    names = sorted(parts)
    lines = [f"{measured}.", "", f"| `SEED={seed}` | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    lines += [f"| {title} | {' | '.join(tell(parts[name]) for name in names)} |" for title, tell in ROWS]
    (folder / "security.md").write_text("\n".join([*lines, ""]), "utf-8")


def _listed(outcomes: dict[str, int]) -> str:
    return ", ".join(f"`{code}` {count:,}" for code, count in sorted(outcomes.items()) if code != "result")


def _memory(found: dict[str, int]) -> str:
    return f"{found['peak_bytes'] / 2**20:,.0f} MiB ({found['idle_bytes'] / 2**20:,.0f})"
