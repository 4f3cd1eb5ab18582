"""Fields that several groups of settings have, and the groups that engines of all families share."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, Field


class Section(BaseModel):
    """Settings of a capability: `settings.of(SynthesisSettings)`, `[synthesis]` in the file."""

    section: ClassVar[str]


def _checked_networks(text: str) -> str:
    for part in filter(None, (part.strip() for part in text.split(","))):
        ip_network(part, strict=False)
    return text


#: CIDRs, separated by commas; one that is none is an error when settings are read.
Networks = Annotated[str, AfterValidator(_checked_networks)]

#: The address of another service.
WebUrl = Annotated[str, Field(pattern=r"^https?://[^\s/?#]+")]


def engines_field() -> Any:
    """Return the field of a family's engines."""
    order = "Engines in order of preference, separated by commas; by default all of the family, in its own order."
    return Field(None, description=order)


class FetchSettings(BaseModel):
    """Downloads of URLs that users name."""

    allow_networks: Networks = Field(
        "", description="CIDRs, separated by commas, that may be reached although they are private, on any port."
    )
    max_bytes: int = Field(20_000_000, ge=1, description="Largest file that is downloaded.")
    connect_seconds: float = Field(5.0, gt=0, description="Longest wait for a connection.")
    limit_seconds: float = Field(30.0, gt=0, description="Longest download in all, redirects and retries included.")
    stall_seconds: float = Field(10.0, gt=0, description="Longest wait for more of an answer.")
    least_bytes_per_second: int = Field(1_000, ge=0, description="A download that has got slower than this is ended.")
    redirects: int = Field(5, ge=0, description="Redirects that are followed.")
    downloads: int = Field(32, ge=1, description="Downloads at once of a process.")
    downloads_per_host: int = Field(8, ge=1, description="Downloads at once of a process from the same host.")


class ModelsSettings(BaseModel):
    """The models of the catalogue: where they are kept, and whether they may be downloaded."""

    download: Literal["ask", "auto", "never"] = Field(
        "auto",
        description="auto: small ones that this machine can use are downloaded beside the work; ask: only said how.",
    )
    folder: Path | None = Field(None, description="Folder of models; by default DATA/models.")
    stall_seconds: float = Field(30.0, gt=0, description="Longest wait for more of a download.")
    retry_minutes: float = Field(60.0, gt=0, description="A download that failed is tried again after so long.")


class GgufSettings(BaseModel):
    """A model that llama.cpp runs here: weights and projector as *.gguf, in one folder."""

    model: str | None = Field(
        None, description="Folder of a model and its projector (*.gguf); by default the catalogue's; none: not used."
    )


class ModelSettings(GgufSettings):
    """A model that is run here: safetensors only, and never code that comes with it."""

    model: str | None = Field(
        None, description="Folder, or name at the Hugging Face hub; by default the catalogue's; none: not used."
    )
    device: str | None = Field(None, description="cpu, cuda, cuda:1 …; by default cuda where there is one.")
    dtype: str | None = Field(None, description="float32, float16 or bfloat16; by default what suits the device.")
