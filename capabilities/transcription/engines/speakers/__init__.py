"""Speakers: who speaks when in a recording."""
