"""Engines: the programs that do the work; each is set up once a process, and then runs."""

from pipeline.errors import ServiceUnavailable


class Stopped(Exception):
    """The caller no longer wants what the engine was making."""


class EngineUnavailable(ServiceUnavailable):
    """An engine that depends on somebody else's service can't work at the moment; another may."""

    code = "engine_unavailable"


class EngineBusy(EngineUnavailable):
    """An engine's service asks for a pause of `retry_after`; its items are released, which counts no attempt."""

    code = "engine_busy"


def never() -> bool:
    """Return False: the `stop` of a caller that always wants the result."""
    return False
