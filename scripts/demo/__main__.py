"""Demo: starts a system, sends the example of each kind, and shows the answers."""

import asyncio
import json
import mimetypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import reduce
from http import HTTPStatus
from operator import or_
from pathlib import Path
from typing import Any

import aiohttp
from rich.console import Console

from pipeline.accounts.accounts import open_account
from pipeline.capabilities import parts
from pipeline.database import Database
from pipeline.errors import NotReady, PressroomError
from pipeline.kind import AnyKind
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from scripts.demo.picture import Served, served_pictures
from scripts.demo.steps import Answered, Steps
from scripts.demo.table import Shown, show, show_fallbacks
from scripts.system.control import System, find_system
from scripts.system.first_steps import FIRST_KEY, FIRST_SIGN_IN
from scripts.system.folders import write_private

OUT = Path("out")
START_SECONDS = 120
DEMO_CREDITS = 10_000
#: Shown if a system that ran before may not fetch the demo's picture.
SKIPPED = "skipped: the running system may not fetch the demo's picture from this machine"
#: The setting that lets a system fetch the demo's picture.
ALLOW = "PRESSROOM_FETCH__ALLOW_NETWORKS"
#: Exit code of a command that Ctrl-C ended.
INTERRUPTED = 130
#: How long a system that runs only for the demo may finish its work.
GRACE_SECONDS = 0.5


def main() -> None:
    """Run the demo; exit with 1 if anything failed."""
    is_to_exit = "--exit" in sys.argv[1:]  # from `make demo EXIT=1`: stop when the table is printed
    steps = Steps()
    try:
        settings = Settings()
        OUT.mkdir(exist_ok=True)
        with (
            served_pictures() as picture,
            running_system(settings, picture, steps, is_to_hurry=is_to_exit) as (system, process),
        ):
            is_to_cancel = is_to_exit and process is not None
            rows = asyncio.run(ask_for_everything(settings, system, picture, steps, is_to_cancel=is_to_cancel))
            show(rows, system)
            show_fallbacks(rows, settings)
            failed = any(row.has_failed or (row.is_skipped and process is not None) for row in rows)
            if process is not None and not is_to_exit:
                Console().print(
                    f"Serving on {system.address}; Ctrl-C stops it. Its API key: {settings.data / FIRST_KEY}; "
                    f"its dashboard opens by the link in {settings.data / FIRST_SIGN_IN}"
                )
                with suppress(KeyboardInterrupt):
                    process.wait()
                Console().print("stopping")
    except KeyboardInterrupt:  # before there was a table
        sys.exit(INTERRUPTED)
    except PressroomError as error:
        Console(stderr=True).print(f"[bold red]demo:[/] {error.message}")
        sys.exit(1)
    sys.exit(int(failed))


@contextmanager
def running_system(
    settings: Settings, picture: Served, steps: Steps, *, is_to_hurry: bool = False
) -> Iterator[tuple[System, subprocess.Popen[bytes] | None]]:
    """Yield the running system, or start one, and stop that at the end.

    `is_to_hurry` stops it without waiting for work. One started here may fetch the demo's picture, and nothing else
    that is private."""
    system = find_system(settings.data)
    if system is not None:
        steps.say(f"using the running system: {system.address}")
        yield system, None
        return
    log = settings.data / "demo.log"
    settings.data.mkdir(parents=True, exist_ok=True)
    steps.say(f"starting PostgreSQL, Redis, the API and the worker pools (their log: {log})")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "scripts.main", "up", "--any-port"],
            env={**os.environ, ALLOW: ",".join(filter(None, (settings.fetch.allow_networks, picture.network)))},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield wait_for_system(settings, process, log), process
    finally:
        process.terminate()
        try:
            process.wait(GRACE_SECONDS if is_to_hurry else None)
        except subprocess.TimeoutExpired:
            process.terminate()  # the second signal waits for no work
            process.wait()


def wait_for_system(settings: Settings, process: subprocess.Popen[bytes], log: Path) -> System:
    """Return the system as soon as it runs. Raises NotReady with the end of its log."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if b"ready on http" in log.read_bytes() and (system := find_system(settings.data)):
            return system
        time.sleep(0.05)
    end = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    raise NotReady(f"The system did not start. The end of {log}:\n{end}")


def demo_key(settings: Settings, system: System) -> str:
    """Return the demo's key, created at its first run and kept in DATA."""
    file = settings.data / "demo-key"
    if not file.exists():
        with Database(system.database_url) as database:
            key = open_account(database, name="demo", tier="enterprise", credits=DEMO_CREDITS).key.secret
        write_private(file, key)
    return file.read_text().strip()


async def ask_for_everything(
    settings: Settings, system: System, picture: Served, steps: Steps, *, is_to_cancel: bool = False
) -> list[Shown]:
    """Send the examples of all kinds at once. `is_to_cancel`: the system stops afterwards."""
    headers = {"X-API-Key": demo_key(settings, system)}
    kinds = [kind for kind in load_kinds(settings).values() if kind.routes]
    examples = [(kind, label, fields) for kind in kinds for label, fields in examples_of(kind).items()]
    steps.say(f"sending {len(examples)} examples to {system.address}; the first requests load models")

    async def told(asked: Awaitable[Shown]) -> Shown:
        shown = await asked
        steps.say(f"{shown.route}: {'answered' if shown.status < HTTPStatus.BAD_REQUEST else 'refused'}")
        return shown

    async with aiohttp.ClientSession(system.address, headers=headers) as session:
        asked = (ask(session, *example, picture, is_to_cancel=is_to_cancel) for example in examples)
        return list(await asyncio.gather(*map(told, asked)))


def examples_of(kind: AnyKind) -> Mapping[str, Mapping[str, Any]]:
    """Return a kind's example, and those that the demos of capabilities add, by what their files' names end with."""
    more = (getattr(part, "MORE", {}).get(kind.name, {}) for part in parts("demo"))
    return reduce(or_, more, {"": kind.example})


def body_of(kind: AnyKind, fields: Mapping[str, Any], picture: Served) -> dict[str, Any]:
    """Return an example of a kind as a request body, with files and our picture filled in."""
    if not kind.files:
        return {"json": picture.in_place(dict(fields))}
    files: dict[str, Path] = {name: path for part in parts("demo") for name, path in getattr(part, "FILES", {}).items()}
    form = aiohttp.FormData()
    for name, value in fields.items():
        if name in kind.files:
            file = files.get(value, files[name])
            form.add_field(name, file.read_bytes(), filename=name, content_type="application/octet-stream")
        else:
            form.add_field(name, str(value))
    return {"data": form}


async def ask(
    session: aiohttp.ClientSession,
    kind: AnyKind,
    label: str,
    fields: Mapping[str, Any],
    picture: Served,
    *,
    is_to_cancel: bool = False,
) -> Shown:
    """Send an example of a kind, and write the answer to a file."""
    started = time.monotonic()
    async with session.post(kind.routes[0], **body_of(kind, fields, picture)) as response:
        body = await response.read()
    name = response.content_disposition.filename if response.content_disposition else None
    suffix = Path(name or "").suffix or mimetypes.guess_extension(response.content_type) or ".bin"
    file = OUT / f"{kind.name}{label}{suffix}"
    file.write_bytes(body)
    document = json.loads(body) if response.content_type == "application/json" else {}
    shows = {name: show for part in parts("demo") for name, show in getattr(part, "SHOWN", {}).items()}
    is_good = response.status < HTTPStatus.BAD_REQUEST and kind.name in shows
    shown = await shows[kind.name](Answered(session, response, document, file, is_to_cancel)) if is_good else None
    seconds = time.monotonic() - started
    warnings = response.headers.getall("X-Warning", [])
    is_skipped = b'"image_blocked"' in body
    return Shown(
        kind.routes[0],
        response.status,
        seconds,
        response.headers.get("X-Engine", ""),
        response.headers.get("X-Credits-Used", ""),
        SKIPPED if is_skipped else shown or " ".join([f"{file} ({len(body):,} bytes)", *warnings]),
        is_skipped=is_skipped,
    )


if __name__ == "__main__":
    main()
