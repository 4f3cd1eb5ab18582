"""Catalogue: the models that engines run, where they come from, and which of them are here."""
