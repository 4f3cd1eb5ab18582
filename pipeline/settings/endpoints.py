"""Endpoints: servers of the operator's that speak OpenAI's API, such as Ollama, vLLM or a hosted service."""

import re
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr

#: An endpoint's name is an engine's name, a part of variables, and a label of metrics.
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


def _with_host(url: str) -> str:
    """Return an address. Raises ValueError for a host or a port that can't be: pages that show it would fail."""
    parts = urlsplit(url)
    if not parts.hostname or not parts.hostname.encode("idna") or parts.port == 0:
        raise ValueError("it has no host, or the port 0")
    return url


#: Without a user or a password, which would be shown.
EndpointUrl = Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+[^\s?#@]*$"), AfterValidator(_with_host)]


class EndpointSettings(BaseModel):
    """One server. It serves the families for which it names a model."""

    url: EndpointUrl = Field(description="Address up to and with /v1: http://localhost:11434/v1.")
    key: SecretStr | None = Field(None, description="API key, sent to this server alone.")
    captions: str | None = Field(None, description="Model for alt text.")
    posts: str | None = Field(None, description="Model for excerpts, categories and tags.")
    covers: str | None = Field(None, description="Model for cover pictures.")
    speech: str | None = Field(None, description="Model for speech.")
    voices: str = Field("", description="Voices, separated by commas; by default those that the server lists.")
    transcripts: str | None = Field(None, description="Model for transcripts.")
    slots: int = Field(8, ge=1, le=256, description="Requests at once from one process.")
    connect_seconds: float = Field(5.0, gt=0, allow_inf_nan=False, description="Longest wait for a connection.")
    limit_seconds: float = Field(120.0, gt=0, allow_inf_nan=False, description="Longest wait for an answer.")
    pause_seconds: float = Field(30.0, gt=0, allow_inf_nan=False, description="Pause after a failure.")


class KnownEndpoint(EndpointSettings):
    """An endpoint as a pool uses it; with a `fault` it is not used. Another `revision` is tried anew."""

    fault: str = ""
    revision: str = ""


def _checked_names(endpoints: dict[str, EndpointSettings]) -> dict[str, EndpointSettings]:
    for name in endpoints:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name of an endpoint: use up to 32 lowercase letters, digits and _")
    return endpoints


#: The data that is sent, by the setting that names the model.
SENT = {
    "captions": "pictures",
    "posts": "posts",
    "covers": "titles and excerpts",
    "speech": "texts to be spoken",
    "transcripts": "recordings",
}


def privacy(endpoints: dict[str, EndpointSettings]) -> Iterator[str]:
    """Yield lines that say what is sent to which host."""
    for name, endpoint in endpoints.items():
        sent = [what for use, what in SENT.items() if getattr(endpoint, use) is not None]
        if sent:
            yield f"  {', '.join(sent).capitalize()} go to {urlsplit(endpoint.url).netloc} (endpoint {name})."


Endpoints = Annotated[dict[str, EndpointSettings], AfterValidator(_checked_names)]
