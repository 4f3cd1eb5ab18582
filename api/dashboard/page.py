"""Page: one entry of the navigation."""

from dataclasses import dataclass
from enum import StrEnum


class NavigationSection(StrEnum):
    """The parts of the navigation, in order."""

    HOME = "Home"
    TRY = "Tools"
    WORK = "Work"
    ACCOUNT = "Account"
    OPERATORS = "Operators"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that the navigation leads to; `order` is its place among those of its section."""

    path: str
    title: str
    section: NavigationSection
    operators_only: bool = False
    order: int = 0
    #: An icon of static/icons.svg.
    icon: str = "file-text"

    def leads_to(self, path: str) -> bool:
        """Return whether a path is this page's, or of something below it."""
        return path == self.path or (self.path != "/dashboard" and path.startswith(f"{self.path}/"))
