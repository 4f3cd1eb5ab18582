"""People: the pages for owners: who is in the account, and what each has done."""

from api.dashboard.pages.people import log, members

PAGES = [members.PAGE]
RESOURCES = {**members.RESOURCES, **log.RESOURCES}
