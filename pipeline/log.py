"""Logs: one JSON line an event, with job and request ids bound; text for a terminal."""

import logging
import sys
from typing import Any

import structlog
from structlog.stdlib import BoundLogger
from structlog.typing import Processor

from pipeline.keys import redact
from pipeline.settings import Settings

SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]

# Without the frames' variables: they hold requests, and requests hold keys.
TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def configure(settings: Settings) -> None:
    """Send every log record of this process, ours and the libraries', to standard error."""
    as_json = not sys.stderr.isatty() if settings.log_format == "auto" else settings.log_format == "json"
    renderer: list[Processor] = (
        [TRACEBACKS, structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer, _redacted],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _redacted(logger: Any, method: str, line: Any) -> str:
    return redact(str(line))


def get_logger(name: str, **fields: Any) -> BoundLogger:
    """Return a logger named after its module, with fields bound to every event."""
    logger: BoundLogger = structlog.stdlib.get_logger(name, **fields)
    return logger
