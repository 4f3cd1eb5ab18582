"""Music: the fields of the kinds that put music under something."""

from pydantic import Field

from pipeline.kind import Request

#: What the music costs beside the speech (docs/api.md, Limits).
MUSIC_CREDITS = 1


class MusicFields(Request):
    """How loud the music is, and how it comes and goes."""

    music_volume: float = Field(
        -20, ge=-60, le=0, description="Decibels below the speech's loudness; -20 to -30 is recommended."
    )
    fade_duration: float = Field(2_000, ge=0, le=10_000, description="Milliseconds of fade in and fade out.")
    duck: bool = Field(True, description="Whether the music dips while someone speaks.")
