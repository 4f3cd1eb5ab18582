"""Links: pages that are open to whoever has their link: an invitation, and the end of a notice."""

from api.dashboard.pages.links import invitation, stop_notices

IS_PUBLIC = True
RESOURCES = {**invitation.RESOURCES, **stop_notices.RESOURCES}
