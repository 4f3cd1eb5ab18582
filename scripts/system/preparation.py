"""Preparation: the process that prepares the database (scripts/system/prepare.py), as the supervisor follows it."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from pipeline.errors import NotReady
from pipeline.processes import shimmed
from scripts.console import Console
from scripts.system.programs import module


async def run_preparation(
    *, embedded: bool, environment: Mapping[str, str], console: Console, when_database_answers: Callable[[], None]
) -> str | None:
    """Return the first account's key, if it was made now. Raises NotReady when the database can't be prepared."""
    ours, theirs = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *shimmed(module("scripts.system.prepare", *(["--embedded"] if embedded else []))),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    console.follow(ours, "prepare")
    try:
        output = process.stdout or asyncio.StreamReader()
        if await output.readline():
            when_database_answers()
        last_line = await output.readline()
        if await process.wait():
            raise NotReady("The database could not be prepared; the lines above say why.")
        api_key: str | None = json.loads(last_line)["api_key"]
        return api_key
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
