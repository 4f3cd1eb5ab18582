"""Settings of audiobooks."""

from pydantic import Field

from pipeline.settings.fields import Section


class AudiobookSettings(Section):
    """How long audiobooks may take and are kept."""

    section = "audiobooks"

    deadline_days: float = Field(7.0, gt=0, le=90, description="An audiobook not spoken by then expires.")
    keep_days: float = Field(30.0, gt=0, le=3_650, description="Retention of audiobooks and their passages.")


SECTIONS = (AudiobookSettings,)
