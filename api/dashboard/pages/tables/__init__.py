"""Tables: what scripts of the pages ask for, as JSON: rows of jobs, readers' lists, and the search."""

from api.dashboard.pages.tables import rows, search, sheets

RESOURCES = {**rows.RESOURCES, **search.RESOURCES, **sheets.RESOURCES}
