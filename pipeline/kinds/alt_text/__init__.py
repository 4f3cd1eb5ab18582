"""Alt text: pictures are described."""

from pipeline.kinds.alt_text.alt_text import AltText
from pipeline.kinds.alt_text.batch import AltTextBatch

KINDS = (AltText(), AltTextBatch())
