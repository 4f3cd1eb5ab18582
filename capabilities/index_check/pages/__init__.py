"""The dashboard's pages of index checks: watched pages, their changes over time, and connected sites."""

from collections.abc import Callable, Mapping

from api.dashboard.rendering import NavigationSection, Page
from api.services.services import Services
from capabilities.index_check.pages.monitor import MonitorPage, NewMonitorPage
from capabilities.index_check.pages.overview import ROOT, Overview
from capabilities.index_check.pages.sites import RETURN, Consent, ConsentReturn, SitesPage

PAGE = Page(ROOT, "Watched pages", NavigationSection.WORK, order=20, icon="radar")
RESOURCES: Mapping[str, Callable[[Services], object]] = {
    ROOT: Overview,
    f"{ROOT}/new": NewMonitorPage,
    f"{ROOT}/sites": SitesPage,
    f"{ROOT}/sites/google": Consent,
    RETURN: ConsentReturn,
    f"{ROOT}/monitors/{{monitor_id}}": MonitorPage,
}
