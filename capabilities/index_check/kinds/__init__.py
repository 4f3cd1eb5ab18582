"""The kinds of index jobs: checks and submissions."""

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.kinds.url_submission import IndexSubmit

KINDS = (IndexCheck(), IndexSubmit())
