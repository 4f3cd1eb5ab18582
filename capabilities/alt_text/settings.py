"""Settings of alt text."""

from pydantic import Field

from pipeline.settings.fields import GgufSettings, ModelSettings, Section, engines_field


class CaptioningSettings(Section):
    """The captioning family: alt text."""

    section = "captioning"

    engines: str | None = engines_field()
    slots: int = Field(3, ge=1, description="Batches that a process works on at once: one in the model, the rest load.")
    batch: int = Field(0, ge=0, description="Images that go through a model together; 0: 8, on a GPU 16.")
    cache_hours: float = Field(24.0, ge=0, description="The same image's text is used again for so long; 0: never.")
    max_images: int = Field(100, ge=1, description="Images of one /batch request.")
    max_pixels: int = Field(40_000_000, ge=1, description="Largest image.")
    max_side: int = Field(16_000, ge=1, description="Longest side of an image, in pixels.")
    threads: int | None = Field(None, ge=1, description="Threads of an engine on the processor; by default its own.")
    llama: GgufSettings = GgufSettings()
    vlm: ModelSettings = ModelSettings()


SECTIONS = (CaptioningSettings,)
