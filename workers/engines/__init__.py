"""Engines: the programs that do the work; each is set up once a process, and then runs."""

from pipeline.errors import ServiceUnavailable


class Stopped(Exception):
    """The caller no longer wants what the engine was making."""


class EngineUnavailable(ServiceUnavailable):
    """An engine that depends on somebody else's service can't work at the moment; another may."""

    code = "engine_unavailable"


def never() -> bool:
    """Return False: the `stop` of a caller that always wants the result."""
    return False
