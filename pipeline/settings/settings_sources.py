"""Settings sources: where settings come from, and which names are none: a misspelt setting is an error, not silence.

`pressroom.toml` has the same names as the environment, as `[api]` with `port = 9000`; the environment goes before it.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pipeline.errors import InvalidSetting
from pipeline.settings.endpoints import EndpointSettings

PREFIX = "PRESSROOM_"
#: Names the file of settings; without it, `pressroom.toml` of the current folder is read if it is there.
CONFIG = "PRESSROOM_CONFIG"
DEFAULT_FILE = "pressroom.toml"
#: Variables of ours that are not settings: of the command line and the client, between our processes, and of the tests.
NOT_SETTINGS = frozenset(
    {CONFIG, "PRESSROOM_API_KEY", "PRESSROOM_URL", "PRESSROOM_SUPERVISED_BY", "PRESSROOM_MASTER"}
    | {"PRESSROOM_TEST_MARK", "PRESSROOM_TESTS_NEED", "PRESSROOM_TESTS_PICTURES"}
)
#: Variables that Kubernetes and old Docker set for a service that is called pressroom, or pressroom-….
SERVICE_LINK = re.compile(r"PRESSROOM(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP)\w*|NAME)")
SERVICE_ADDRESS = re.compile(r"(tcp|udp)://")
#: The setting whose parts have names that the operator chooses.
NAMED = "endpoints"
#: Least similarity of a name to be suggested; difflib's measure.
LIKENESS = 0.6


def config_file() -> Path | None:
    """Return the file of settings, None if there is none. Raises InvalidSetting when the named one is not there."""
    if named := os.environ.get(CONFIG):
        if not Path(named).is_file():
            raise InvalidSetting(f"{CONFIG} names {named}, which is not a file.")
        return Path(named)
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None


def read_config(model: type[BaseModel]) -> dict[str, Any]:
    """Return the settings of the file. Raises InvalidSetting for one that can't be read, or has unknown names."""
    file = config_file()
    if file is None:
        return {}
    try:
        with file.open("rb") as opened:
            _refuse_others(file, os.fstat(opened.fileno()))
            found: dict[str, Any] = _joined(tomllib.load(opened))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidSetting(f"{file} can't be read: {error}.") from error
    known = {".".join(path) for path in _paths(model)}
    for name in _names(found):
        if name not in known and re.sub(rf"^({NAMED})\.[^.]+", r"\1.NAME", name) not in known:
            raise InvalidSetting(f"{file}: {name} is not a setting.{_meant(name, known)}")
    return found


def _joined(value: Any) -> Any:
    """Return a value of the file with its lists as texts with commas, as the environment has them."""
    if isinstance(value, dict):
        return {name: _joined(part) for name, part in value.items()}
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    return value


def _refuse_others(file: Path, opened: os.stat_result) -> None:
    """Raise InvalidSetting when another user owns or may write a file of settings, since it names programs to run."""
    if opened.st_uid not in (0, os.geteuid()):
        raise InvalidSetting(
            f"{file} belongs to user {opened.st_uid}, and this is user {os.geteuid()}: another's settings could run"
            f" another's programs. Read it, then `chown {os.geteuid()} {file}`, or name your own file in {CONFIG}."
        )
    if opened.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InvalidSetting(f"{file} may be written by other users. Read it, then `chmod go-w {file}`.")


def check_environment(model: type[BaseModel], environment: Mapping[str, str]) -> None:
    """Look for variables that look like settings and are none. Raises InvalidSetting, with the nearest name."""
    known = {variable(path) for path in _paths(model)} | NOT_SETTINGS
    for name, value in environment.items():
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper in known or not value:
            continue
        if re.sub(rf"^({PREFIX}{NAMED.upper()})__.+?__", r"\1__NAME__", upper) in known:
            continue
        if SERVICE_LINK.fullmatch(upper) or SERVICE_ADDRESS.match(value):
            continue
        raise InvalidSetting(f"{name} is not a setting.{_meant(upper, known)}")


def variable(path: tuple[str, ...]) -> str:
    """Return the environment variable of a setting, given its names from the top."""
    return PREFIX + "__".join(path).upper()


def _paths(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield all settings and groups of settings."""
    for name, field in model.model_fields.items():
        path = (*above, name)
        yield path
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _paths(field.annotation, path)
        elif name == NAMED:
            yield (*path, "NAME")
            yield from _paths(EndpointSettings, (*path, "NAME"))


def _names(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in table.items():
        yield f"{above}{name}"
        if isinstance(value, Mapping):
            yield from _names(value, f"{above}{name}.")


def _meant(name: str, known: set[str]) -> str:
    nearest = get_close_matches(name, sorted(known), 1, LIKENESS)
    return f" Did you mean {nearest[0]}?" if nearest else " `pressroom settings` lists all."
