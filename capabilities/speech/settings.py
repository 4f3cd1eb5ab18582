"""Settings of speech."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from pipeline.settings.fields import Section, WebUrl, engines_field

if TYPE_CHECKING:
    from pipeline.settings import Settings  # imports this module for its sections


class EdgeSettings(BaseModel):
    """The edge engine: the speech service of Microsoft's browser."""

    url: str | None = Field(
        None, pattern="^wss?://", description="Address of the service (ws or wss). Default: Microsoft's."
    )
    voices_url: WebUrl | None = Field(None, description="Address of its list of voices. Default: Microsoft's.")
    connections: int = Field(4, ge=1, description="Connections per process; the service refuses hundreds.")
    connect_seconds: int = Field(10, ge=1, description="Longest wait for a connection.")
    stall_seconds: float = Field(15.0, gt=0, description="Longest wait for the next message.")
    limit_seconds: float = Field(60.0, gt=0, description="Longest time for up to 1,000 characters.")
    pause_seconds: float = Field(300.0, gt=0, description="Pause after a failure of the service.")


class SynthesisSettings(Section):
    """The synthesis family."""

    section = "synthesis"

    engines: str | None = engines_field()
    online: bool = Field(
        False, description="Allow texts to go to Microsoft's speech service; ENGINES can allow it too."
    )
    slots: int = Field(24, ge=1, description="Texts per process at once; their chunks take turns.")
    edge: EdgeSettings = EdgeSettings()
    max_recording_minutes: int = Field(60, ge=1, description="Longest recording that /tts/add-music takes.")


SECTIONS = (SynthesisSettings,)


def privacy(settings: "Settings") -> Iterator[str]:
    """Yield lines that say whether spoken texts leave this machine."""
    from pipeline.offers.offers import preferred_engines  # needs complete settings

    engines = preferred_engines(settings, SynthesisSettings.section)
    if "edge" in engines or (not engines and settings.of(SynthesisSettings).online):
        yield "  Texts may be sent to Microsoft, whose voices are turned on (edge)."
        return
    yield "  Texts and recordings stay on this machine. PRESSROOM_SYNTHESIS__ONLINE=true adds"
    yield "  Microsoft's voices, which are sent the texts; `pressroom models list` shows others."
