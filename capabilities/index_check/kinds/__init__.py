"""The kinds of index jobs: checks and submissions."""

from capabilities.index_check.kinds.index_check import IndexCheck, IndexSubmit

KINDS = (IndexCheck(), IndexSubmit())
