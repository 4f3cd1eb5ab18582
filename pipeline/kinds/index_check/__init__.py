"""Index check: whether URLs are in search results."""

from pipeline.kinds.index_check.check import IndexCheck

KINDS = (IndexCheck(),)
