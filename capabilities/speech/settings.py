"""Settings of speech."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from pipeline.settings.fields import Section, WebUrl, engines_field

if TYPE_CHECKING:
    from pipeline.settings import Settings  # which imports this module for its sections


class EdgeSettings(BaseModel):
    """The edge engine: the speech service of Microsoft's browser."""

    url: str | None = Field(
        None, pattern="^wss?://", description="Address of the service (ws or wss); by default Microsoft's."
    )
    voices_url: WebUrl | None = Field(None, description="Address of its list of voices; by default Microsoft's.")
    connections: int = Field(4, ge=1, description="Connections at once of a process; the service refuses hundreds.")
    connect_seconds: int = Field(10, ge=1, description="Longest wait for a connection.")
    stall_seconds: float = Field(15.0, gt=0, description="Longest wait for the next message.")
    limit_seconds: float = Field(60.0, gt=0, description="Longest wait for 1,000 characters, or less, in all.")
    pause_seconds: float = Field(300.0, gt=0, description="After a failure the service is left alone for so long.")


class SynthesisSettings(Section):
    """The synthesis family."""

    section = "synthesis"

    engines: str | None = engines_field()
    online: bool = Field(False, description="Whether texts may go to Microsoft's speech service; so may ENGINES say.")
    slots: int = Field(24, ge=1, description="Texts that a process works on at once, chunk by chunk in turn.")
    edge: EdgeSettings = EdgeSettings()
    max_recording_minutes: int = Field(60, ge=1, description="Longest recording that /tts/add-music takes.")


SECTIONS = (SynthesisSettings,)


def privacy(settings: "Settings") -> Iterator[str]:
    """Yield lines that say whether texts that are spoken leave this machine."""
    from pipeline.offers.offers import preferred_engines  # which needs settings that are complete

    engines = preferred_engines(settings, SynthesisSettings.section)
    if "edge" in engines or (not engines and settings.of(SynthesisSettings).online):
        yield "  Texts may be sent to Microsoft, whose voices are turned on (edge)."
        return
    yield "  Texts and recordings stay on this machine. PRESSROOM_SYNTHESIS__ONLINE=true adds"
    yield "  Microsoft's voices, which are sent the texts; `pressroom models list` shows others."
