"""Alt text: pictures are described."""

from capabilities.alt_text.kinds.alt_text import AltText
from capabilities.alt_text.kinds.batch import AltTextBatch

KINDS = (AltText(), AltTextBatch())
