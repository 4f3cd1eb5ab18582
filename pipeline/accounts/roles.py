"""Roles: what a person may do in an account."""

from enum import StrEnum


class Role(StrEnum):
    """Each may do what those before it may; `models.people` has the same for its CHECK."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"

    def includes(self, other: "Role") -> bool:
        """Return whether who has this role may do what the other needs."""
        return _ORDER[self] >= _ORDER[other]


_ORDER = {role: place for place, role in enumerate(Role)}
