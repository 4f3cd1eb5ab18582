"""Folders: where a system's sockets are, and whose folder of data root takes."""

import os
from pathlib import Path

import pytest

from pipeline.errors import NotReady
from pipeline.operations.supervision import MAX_SOCKET_BYTES
from scripts.system.embedded import postgres, redis
from scripts.system.folders import only_system


@pytest.mark.parametrize("length", range(60, 120, 3))
def test_sockets_have_paths_that_every_system_takes_however_long_the_folder_of_data_is(length: int) -> None:
    data = Path("/srv/" + "d" * (length - 5))

    paths = [f"{postgres.server(data).argv[-1]}/.s.PGSQL.5432", redis.server(data).argv[-1]]

    assert max(map(len, paths)) <= MAX_SOCKET_BYTES


@pytest.mark.skipif(os.geteuid() != 0, reason="others than root have no folder of another user")
@pytest.mark.parametrize(
    ("owner", "mode", "said"), [(12_345, 0o700, "belongs to user 12345"), (0, 0o770, "chmod go-w")]
)
def test_root_takes_no_folder_that_another_user_owns_or_may_write(
    tmp_path: Path, owner: int, mode: int, said: str
) -> None:
    os.chown(tmp_path, owner, -1)
    tmp_path.chmod(mode)
    with pytest.raises(NotReady, match=said), only_system(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
