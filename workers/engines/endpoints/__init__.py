"""Endpoints: engines on servers of the operator's that speak OpenAI's API."""
