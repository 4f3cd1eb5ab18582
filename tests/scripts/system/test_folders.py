"""Folders: where a system's sockets are."""

from pathlib import Path

import pytest

from pipeline.operations.supervision import MAX_SOCKET_BYTES
from scripts.system.embedded import postgres, redis


@pytest.mark.parametrize("length", range(60, 120, 3))
def test_sockets_have_paths_that_every_system_takes_however_long_the_folder_of_data_is(length: int) -> None:
    data = Path("/srv/" + "d" * (length - 5))

    paths = [f"{postgres.server(data).argv[-1]}/.s.PGSQL.5432", redis.server(data).argv[-1]]

    assert max(map(len, paths)) <= MAX_SOCKET_BYTES
