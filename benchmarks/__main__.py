"""`python -m benchmarks [name …] [--quick]`: run the measurements, each a module of this package, one after another."""

import argparse
import importlib
import signal
import sys
import time

from benchmarks.report import machine

MEASUREMENTS = (
    "start",
    "submissions",
    "round_trip",
    "profile",
    "idle",
    "waiting",
    "speech",
    "transcription",
    "audiobooks",
    "blog",
    "index",
    "streams",
    "growth",
    "peers",
)
#: An hour, so only by name.
LONG = ("pinned",)


def main() -> None:
    """Run what the command line names; by default everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(MEASUREMENTS + LONG))
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: a rough look in two minutes")
    wanted = parser.parse_args()
    if unknown := set(wanted.names) - {*MEASUREMENTS, *LONG}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there is {', '.join(MEASUREMENTS + LONG)}")
    # Ended from outside, it stops what it started, as Ctrl+C has it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(machine())
    for name in wanted.names or MEASUREMENTS:
        began = time.monotonic()
        for table in importlib.import_module(f"benchmarks.{name}").measure(quick=wanted.quick):
            print(f"\n{table}", flush=True)
        print(f"  {name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
