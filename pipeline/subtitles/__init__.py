"""Subtitles: what is said when, as people read it while they hear it."""
