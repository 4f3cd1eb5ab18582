"""Flows: one function a capability, written once for both clients."""

from pressroom.flows import account, books, index, jobs, posts, speech, uploads

__all__ = ["account", "books", "index", "jobs", "posts", "speech", "uploads"]
