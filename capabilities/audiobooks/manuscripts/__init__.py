"""Manuscripts: EPUB, DOCX, HTML, Markdown and text, read into chapters."""
