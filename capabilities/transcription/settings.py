"""Settings of transcription."""

from pydantic import BaseModel, Field

from pipeline.settings.fields import Section, engines_field


class WhisperSettings(BaseModel):
    """The whisper engine: a model in CTranslate2's format."""

    model: str | None = Field(
        None, description="Folder, size such as small, or name at the hub. Default: the best that is here."
    )
    device: str | None = Field(None, description="cpu, cuda, cuda:1 … Default: cuda if there is one.")
    compute_type: str | None = Field(
        None, description="int8, int8_float16, float16, float32 … Default: int8 on cpu, float16 on cuda."
    )
    cpu_threads: int = Field(0, ge=0, description="Threads on a processor; 0: CTranslate2 chooses.")
    beam_size: int = Field(5, ge=1, description="Width of the beam search; 1 is faster.")
    batch: int = Field(0, ge=0, description="Pieces of a long recording at once; 0: 8 on cuda, else 1.")
    idle_minutes: float = Field(
        10, ge=0, description="Unload a model that is unused for so long, or at start; 0: never."
    )


class TranscriptionSettings(Section):
    """The transcription family."""

    section = "transcription"

    engines: str | None = engines_field()
    slots: int = Field(3, ge=1, description="Recordings per process at once; their windows take turns.")
    max_hours: float = Field(4.0, gt=0, le=24, description="Longest recording.")
    window_seconds: float = Field(300.0, ge=1, description="Length of a window, the most work that a crash can cost.")
    whisper: WhisperSettings = WhisperSettings()


SECTIONS = (TranscriptionSettings,)
