"""Engines: the programs that do the work; each is set up once a process, and then runs."""


class Stopped(Exception):
    """The caller no longer wants what the engine was making."""
