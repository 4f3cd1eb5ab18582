"""Covers: a post's pictures, each by the first engine that can make it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from capabilities.blog.engines.pictures import Brief, Painted, Painter
from capabilities.blog.handlers.writing import LockOf, Stop, attempt
from capabilities.blog.kinds.metadata import DEFAULT_STYLE
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from workers.engines import EngineBusy
from workers.engines.model_choice import models_of
from workers.media.images.picture import Measures, measure

log = get_logger(__name__)

PHOTOGRAPHIC = ("realistic", "photographic")


@dataclass(frozen=True, slots=True)
class Cover:
    """A picture, its engine, the measures in its header, and the engine that described it, if another."""

    engine: str
    painted: Painted
    measures: Measures
    describer: str | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Covers:
    """The pictures made, and how they differ from the request."""

    made: list[Cover] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    note: str | None = None


def paint_covers(painters: Sequence[Painter], brief: Brief, *, count: int, lock_of: LockOf, stop: Stop) -> Covers:
    """Return up to `count` pictures; the next engine makes those that one could not. Raises Stopped.

    Engines that can truly make the style go first; the others make the nearest style, and say so."""
    covers = Covers()
    for painter in sorted(painters, key=lambda painter: brief.style not in painter.styles()):
        wanted = count - len(covers.made)
        if wanted == 0:
            break
        if covers.made or covers.warnings:
            log.info("next engine paints", engine=painter.name, pictures=wanted)
        paint = partial(painter.paint, brief, count=wanted, stop=stop)
        try:
            made = attempt(painter.name, lock_of(painter), paint, stop)
        except EngineBusy:
            # A post waits only for its first pictures: those that came may be paid for, and would be painted again.
            if not (covers.made or brief.attempt):
                raise
            continue
        for painted in [] if isinstance(made, Exception) else list(made)[:wanted]:
            _add(covers, painter, painted)
    return _with_note(covers, brief.style)


def checked_covers(
    painters: Sequence[Painter],
    brief: Brief,
    count: int,
    paint: Callable[[Sequence[Painter], Brief, int], Covers],
    fault_of: Callable[[Cover], str | None],
) -> Covers:
    """Return up to `count` pictures without a fault; a faulty one is made again once, then by another engine.

    `paint` makes pictures and has them described. A warning names replacements."""
    covers = paint(painters, brief, count)
    kept, faults = _sorted_out(covers.made, fault_of)
    if not faults:
        return covers
    generating = [painter for painter in painters if painter.name in {engine for engine, _ in faults}]
    others = [painter for painter in painters if painter not in generating]
    log.info("generated pictures made again", faults=faults)
    brief = replace(brief, attempt=1)
    again, still = _sorted_out(paint(generating, brief, len(faults)).made, fault_of)
    kept += again
    warnings = list(covers.warnings)
    if missing := count - len(kept):
        log.warning("generated pictures not used", faults=still)
        drawn = paint(others, brief, missing)
        kept += drawn.made
        warnings += [*drawn.warnings, _replaced(missing, [fault for _, fault in still or faults])]
    return _with_note(replace(covers, made=kept, warnings=warnings), brief.style)


def _sorted_out(
    covers: Sequence[Cover], fault_of: Callable[[Cover], str | None]
) -> tuple[list[Cover], list[tuple[str, str]]]:
    judged = [(cover, fault_of(cover)) for cover in covers]
    return (
        [cover for cover, fault in judged if fault is None],
        [(cover.engine, fault) for cover, fault in judged if fault is not None],
    )


def _replaced(missing: int, faults: Sequence[str]) -> str:
    what = " or ".join(dict.fromkeys(faults))
    return f"Of {missing} generated pictures each {what}, also when made again; they were replaced by drawn ones."


def _add(covers: Covers, painter: Painter, painted: Painted | PressroomError) -> None:
    engine = painter.name
    if isinstance(painted, PressroomError):
        log.warning("picture not made", engine=engine, error=painted.message)
        return
    try:
        measures = measure(painted.data)
    except ValueError as error:
        log.error("engine made no picture", engine=engine, error=str(error))
        return
    covers.made.append(Cover(engine, painted, measures, models=models_of(painter)))
    covers.warnings.extend(painted.warnings)


def _with_note(covers: Covers, style: str) -> Covers:
    """Return the covers with a note, or a warning if the style was requested, that their style is another.

    Without a model for photographs every default request differs, and a warning on each would hide others."""
    others = sorted({cover.painted.style for cover in covers.made} - {style})
    if not others:
        return covers
    listed = " and ".join(others)
    if style in PHOTOGRAPHIC and all(cover.painted.style != style for cover in covers.made):
        note = f"These are drawn pictures ({listed}): no model that makes {style} ones is ready on this server."
        warnings = [] if style == DEFAULT_STYLE else [f"The style {style} could not be made here."]
        return replace(covers, note=note, warnings=[*covers.warnings, *warnings])
    if any(cover.painted.warnings for cover in covers.made):
        return covers
    return replace(
        covers,
        warnings=[*covers.warnings, f"The style {style} could not be made for all pictures; others are {listed}."],
    )
