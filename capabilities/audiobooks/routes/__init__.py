"""Routes of audiobooks: a plan becomes passages, and passages become a file."""

from capabilities.audiobooks.routes.books import BookWork, PlanWork
from capabilities.audiobooks.routes.changes import Book
from capabilities.audiobooks.routes.files import BookFiles
from capabilities.audiobooks.routes.progress import BookPassages
from capabilities.audiobooks.routes.try_page import TRY

__all__ = ["RESOURCES", "TRY", "WORK"]

WORK = {"/audiobooks/plan": PlanWork, "/audiobooks": BookWork}
RESOURCES = {
    "/audiobooks/{job_id}": Book,
    "/audiobooks/{job_id}/chapters/{number}": BookPassages,
    "/audiobooks/{job_id}/files": BookFiles,
}
