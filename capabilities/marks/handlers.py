"""Verification: the handler of POST /verify."""

from capabilities.marks.kinds import VerifyRequest
from pipeline.database import Database
from pipeline.marks.receipts import Verified
from workers.handler import Done, Handler, Outcome, Task
from workers.media.marks.marking import current_identity
from workers.media.marks.verifying import verify_file


class VerificationHandler(Handler[VerifyRequest, Verified]):
    """Reads the marks of one file at a time, beside the pictures of its process."""

    runs_apart = True

    def use(self, database: Database) -> None:
        self._database = database

    def carry_out(self, task: Task[VerifyRequest]) -> Outcome[Verified]:
        own = current_identity(self.settings.marks, self._database)
        with task.upload("file") as file:
            found = verify_file(file, trusted=own.root)
        return Done(found)
