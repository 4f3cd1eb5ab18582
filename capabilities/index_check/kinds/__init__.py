"""Index check: whether URLs are in search results, and telling search engines of them."""

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.kinds.url_submission import IndexSubmit

KINDS = (IndexCheck(), IndexSubmit())
