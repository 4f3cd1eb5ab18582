"""Covers: a post's pictures, each by the first engine that can make it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipeline.errors import PressroomError
from pipeline.log import get_logger
from workers.engines import Stopped
from workers.engines.locks import FairLock
from workers.engines.pictures import Brief, Painted, Painter
from workers.media.images.measuring import Measures, measure

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Cover:
    """A picture, who made it, what it is by its own header, and who described it if not its maker."""

    engine: str
    painted: Painted
    measures: Measures
    describer: str | None = None


@dataclass(frozen=True, slots=True)
class Covers:
    """The pictures that could be made, and what is not as it was asked for."""

    made: list[Cover] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def paint_covers(
    painters: Sequence[Painter],
    brief: Brief,
    *,
    count: int,
    lock_of: Callable[[object], FairLock],
    stop: Callable[[], bool],
) -> Covers:
    """Return up to `count` pictures; what one engine can't make is asked of the next. Raises Stopped.

    Engines that can truly make the style go first; the others make what is nearest, and say so."""
    covers = Covers()
    for painter in sorted(painters, key=lambda painter: brief.style not in painter.styles()):
        wanted = count - len(covers.made)
        if wanted == 0:
            break
        if covers.made or covers.warnings:
            log.info("the next engine paints", engine=painter.name, pictures=wanted)
        with lock_of(painter).unless(stop):
            made = _paint(painter, brief, wanted, stop)
        for painted in made:
            _add(covers, painter.name, brief, painted)
    return covers


def _paint(painter: Painter, brief: Brief, count: int, stop: Callable[[], bool]) -> Sequence[Painted | PressroomError]:
    try:
        return list(painter.paint(brief, count=count, stop=stop))[:count]
    except Stopped:
        raise
    except Exception as error:  # whatever a model does, the next engine can still paint
        log.warning("engine failed to paint", engine=painter.name, exc_info=error)
        return []


def _add(covers: Covers, engine: str, brief: Brief, painted: Painted | PressroomError) -> None:
    if isinstance(painted, PressroomError):
        log.warning("picture not made", engine=engine, error=painted.message)
        return
    try:
        measures = measure(painted.data)
    except ValueError as error:
        log.error("engine made no picture", engine=engine, error=str(error))
        return
    covers.made.append(Cover(engine, painted, measures))
    covers.warnings.extend(painted.warnings)
    if painted.style != brief.style and not painted.warnings:
        covers.warnings.append(
            f"The style {brief.style} could not be made here; {painted.style} is the nearest that could."
        )
