"""Flows: each capability, written once for both clients: a function of the service that returns a flow."""

from pressroom.flows import account, alt_text, blog, index, jobs, speech, transcription, webhooks

__all__ = ["account", "alt_text", "blog", "index", "jobs", "speech", "transcription", "webhooks"]
