"""The document of a resumable upload."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from pipeline.storage.resumable import ResumableUpload


class UploadDocument(BaseModel):
    """A resumable upload."""

    id: UUID = Field(description="Send it as `upload` with the request that uses the file; the job will have this id.")
    length: int = Field(description="Bytes of the whole file.")
    offset: int = Field(description="Bytes that have arrived.")
    name: str
    expires_at: datetime = Field(description="The upload is deleted then, unless more of it arrives or a job uses it.")

    @classmethod
    def of(cls, upload: ResumableUpload) -> "UploadDocument":
        """Return an upload's document."""
        return cls(
            id=upload.id,
            length=upload.length,
            offset=upload.received,
            name=upload.name,
            expires_at=upload.expires_at,
        )
