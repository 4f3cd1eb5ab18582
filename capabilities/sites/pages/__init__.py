"""The dashboard's pages of sites: where an account publishes, and what is proposed and written there."""

from collections.abc import Callable, Mapping

from api.dashboard.rendering import NavigationSection, Page
from api.services.services import Services
from capabilities.sites.pages.post import PostPage
from capabilities.sites.pages.run import RunPage
from capabilities.sites.pages.site import SitePage
from capabilities.sites.pages.sites import ROOT, SitesPage

PAGE = Page(ROOT, "Sites", NavigationSection.WORK, order=30, icon="newspaper")
RESOURCES: Mapping[str, Callable[[Services], object]] = {
    ROOT: SitesPage,
    f"{ROOT}/{{site_id}}": SitePage,
    f"{ROOT}/{{site_id}}/runs/{{run_id}}": RunPage,
    f"{ROOT}/{{site_id}}/posts/{{post_id}}": PostPage,
}
