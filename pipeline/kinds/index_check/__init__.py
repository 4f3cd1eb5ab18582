"""Index check: whether URLs are in search results, and telling search engines of them."""

from pipeline.kinds.index_check.check import IndexCheck
from pipeline.kinds.index_check.submit import IndexSubmit

KINDS = (IndexCheck(), IndexSubmit())
