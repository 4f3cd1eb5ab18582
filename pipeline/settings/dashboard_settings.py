"""Settings of the dashboard: how long people stay signed in, and how often they may try."""

from pydantic import BaseModel, Field


class DashboardSettings(BaseModel):
    """Sign-in at the dashboard."""

    session_idle_hours: float = Field(24, gt=0, description="A session that is not used for so long ends.")
    session_days: float = Field(14, gt=0, description="Longest time that a session lasts.")
    sign_in_link_hours: float = Field(24, gt=0, description="How long a sign-in link can be used.")
    sign_ins_per_minute: int = Field(
        10, ge=1, description="Sign-ins that an address, or an e-mail, may try in a minute."
    )
    sign_ins_per_day: int = Field(200, ge=1, description="The same in a UTC day.")
