"""Engine settings: what an operator may change of each family of engines, and of the downloads made for them."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field


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
    """Downloads of what users point at."""

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


class ModelSettings(BaseModel):
    """A model that is run here: safetensors only, and never code that comes with it."""

    model: str | None = Field(
        None, description="Folder, or name at the Hugging Face hub; by default the catalogue's; none: not used."
    )
    device: str | None = Field(None, description="cpu, cuda, cuda:1 …; by default cuda where there is one.")
    dtype: str | None = Field(None, description="float32, float16 or bfloat16; by default what suits the device.")


class CaptioningSettings(BaseModel):
    """The captioning family: alt text."""

    engines: str | None = engines_field()
    slots: int = Field(3, ge=1, description="Batches that a process works on at once: one in the model, the rest load.")
    batch: int = Field(
        0, ge=0, description="Images that go through a model together; 0: 8, and on a GPU 32 by blip or 16 by vlm."
    )
    cache_hours: float = Field(24.0, ge=0, description="The same image's text is used again for so long; 0: never.")
    max_images: int = Field(100, ge=1, description="Images of one /batch request.")
    max_pixels: int = Field(40_000_000, ge=1, description="Largest image.")
    max_side: int = Field(16_000, ge=1, description="Longest side of an image, in pixels.")
    threads: int | None = Field(None, ge=1, description="Threads of an engine on the processor; by default its own.")
    vlm: ModelSettings = ModelSettings()
    blip: ModelSettings = ModelSettings()


class MetadataSettings(BaseModel):
    """The metadata family: excerpt, category and tags of posts."""

    engines: str | None = engines_field()
    categories: str | None = Field(None, description="File of categories (TOML); by default the 30 that are shipped.")
    llm: ModelSettings = ModelSettings()


class DiffusionSettings(ModelSettings):
    """A diffusion pipeline that makes pictures from text."""

    steps: int | None = Field(None, ge=1, le=200, description="Steps of denoising; by default what the pipeline has.")
    guidance: float | None = Field(None, ge=0, le=30, description="How closely the text is followed; by default as is.")
    width: int | None = Field(None, ge=32, le=4096, multiple_of=8, description="In pixels; by default the model's own.")
    height: int | None = Field(
        None, ge=32, le=4096, multiple_of=8, description="In pixels; by default the model's own."
    )
    seed: int = Field(0, ge=0, description="The first picture's seed; the others count on. Another: other pictures.")


class PicturesSettings(BaseModel):
    """The pictures family: covers of posts."""

    engines: str | None = engines_field()
    fonts: str | None = Field(None, description="Folder of fonts for titles that the shipped ones can't set.")
    diffusion: DiffusionSettings = DiffusionSettings()
    safety: ModelSettings = ModelSettings()


class WhisperSettings(BaseModel):
    """The whisper engine: a model in CTranslate2's format."""

    model: str | None = Field(
        None, description="Folder, size such as small, or name at the hub; by default the best that is here."
    )
    device: str | None = Field(None, description="cpu, cuda, cuda:1 …; by default cuda where there is one.")
    compute_type: str | None = Field(
        None, description="int8, int8_float16, float16, float32 …; by default int8 on cpu, float16 on cuda."
    )
    cpu_threads: int = Field(0, ge=0, description="Threads on a processor; 0: as many as CTranslate2 sees fit.")
    beam_size: int = Field(5, ge=1, description="Texts that are followed side by side; 1 is faster.")
    batch: int = Field(0, ge=0, description="Pieces of a long recording at a time; 0: 8 on cuda, 1 elsewhere.")
    idle_minutes: float = Field(0, ge=0, description="The model leaves the memory when unused for so long; 0: never.")


class TranscriptionSettings(BaseModel):
    """The transcription family."""

    engines: str | None = engines_field()
    slots: int = Field(3, ge=1, description="Recordings that a process works on at once, window by window in turn.")
    max_hours: float = Field(4.0, gt=0, le=24, description="Longest recording.")
    window_seconds: float = Field(300.0, ge=1, description="A crash costs the work on so much sound, at most.")
    whisper: WhisperSettings = WhisperSettings()


class EdgeSettings(BaseModel):
    """The edge engine: the speech service of Microsoft's browser."""

    url: str | None = Field(
        None, pattern="^wss?://", description="Address of the service (ws or wss); by default Microsoft's."
    )
    voices_url: WebUrl | None = Field(None, description="Address of its list of voices; by default Microsoft's.")
    connections: int = Field(4, ge=1, description="Connections at once of a process; the service refuses hundreds.")
    connect_seconds: int = Field(10, ge=1, description="Longest wait for a connection.")
    stall_seconds: float = Field(15.0, gt=0, description="Longest wait for the next message.")
    limit_seconds: float = Field(60.0, gt=0, description="Longest wait for 1,000 characters, or less, in all.")
    pause_seconds: float = Field(300.0, gt=0, description="After a failure the service is left alone for so long.")


class SynthesisSettings(BaseModel):
    """The synthesis family."""

    engines: str | None = engines_field()
    online: bool = Field(False, description="Whether texts may go to Microsoft's speech service; so may ENGINES say.")
    slots: int = Field(24, ge=1, description="Texts that a process works on at once, chunk by chunk in turn.")
    edge: EdgeSettings = EdgeSettings()
    max_recording_minutes: int = Field(60, ge=1, description="Longest recording that /tts/add-music takes.")
