"""Whatever call a pool's process dies at, its job ends as if it had not, whatever its kind.

`CRASH_POINTS=all` tries each call of each kind, prints a table, and writes it into out/; otherwise a few calls of two
kinds are tried: a process dies in the runner's code, which is the same for all.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash_points import is_long
from crash_runs import HEAD, Found, Runs, decisive
from crash_site import Site, crash_site

from pipeline.registry import load_kinds
from pipeline.settings import Settings

pytestmark = [pytest.mark.system, pytest.mark.timeout(3_600)]
TABLE = Path("out", "faults-crash-points").with_suffix(".md")
#: One stores artifacts, the other has many items.
FEW = ("speech", "index_check")
#: It takes an audiobook that has ended.
NEEDS_ANOTHER = "audiobook_file"
KINDS = {
    name: kind for name, kind in load_kinds(Settings()).items() if name in FEW or (is_long() and name != NEEDS_ANOTHER)
}


@pytest.fixture(scope="module")
def site(
    make_database: Callable[[], str], redis_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    with crash_site(make_database, redis_server, tmp_path_factory.mktemp("crashes"), KINDS) as made:
        yield made


@pytest.fixture(scope="module")
def table() -> Iterator[list[Found]]:
    """The results, printed and written when all kinds have been tried."""
    found: list[Found] = []
    yield found
    lines = "\n".join([HEAD, *(one.row() for one in found)])
    print(f"\n{lines}")
    if is_long():
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(f"{lines}\n")


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_whose_process_dies_ends_as_if_it_had_not(site: Site, table: list[Found], kind: str) -> None:
    runs = Runs(site, site.kinds[kind])
    found = runs.each() if is_long() else runs.some(decisive(runs.undisturbed()))
    table.append(found)
    print(f"\n{found}")
    assert found.died.total()
