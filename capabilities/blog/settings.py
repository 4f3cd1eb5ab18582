"""Settings of posts: their texts, and their covers."""

from pydantic import Field

from pipeline.settings.fields import GgufSettings, ModelSettings, Section, engines_field


class MetadataSettings(Section):
    """The metadata family: excerpt, category and tags of posts."""

    section = "metadata"

    engines: str | None = engines_field()
    categories: str | None = Field(None, description="File of categories (TOML); by default the 30 that are shipped.")
    llama: GgufSettings = GgufSettings()


class DiffusionSettings(ModelSettings):
    """A diffusion pipeline that makes pictures from text."""

    steps: int | None = Field(None, ge=1, le=200, description="Steps of denoising; by default what the pipeline has.")
    guidance: float | None = Field(None, ge=0, le=30, description="How closely the text is followed; by default as is.")
    width: int | None = Field(None, ge=32, le=4096, multiple_of=8, description="In pixels; by default the model's own.")
    height: int | None = Field(
        None, ge=32, le=4096, multiple_of=8, description="In pixels; by default the model's own."
    )
    seed: int = Field(0, ge=0, description="The first picture's seed; the others count on. Another: other pictures.")


class PicturesSettings(Section):
    """The pictures family: covers of posts."""

    section = "pictures"

    engines: str | None = engines_field()
    fonts: str | None = Field(None, description="Folder of fonts for titles that the shipped ones can't set.")
    diffusion: DiffusionSettings = DiffusionSettings()
    safety: ModelSettings = ModelSettings()


class PicturesRetention(Section):
    """How long pictures are kept."""

    section = "retention"

    picture_days: float = Field(7, gt=0, le=365, description="Pictures, and the links to them.")


SECTIONS = (MetadataSettings, PicturesSettings, PicturesRetention)
