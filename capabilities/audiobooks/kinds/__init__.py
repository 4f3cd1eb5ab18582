"""The kinds of audiobooks."""

from capabilities.audiobooks.kinds.audiobook import Audiobook
from capabilities.audiobooks.kinds.book_file import BookFile
from capabilities.audiobooks.kinds.plan import Plan

KINDS = (Plan(), Audiobook(), BookFile())
