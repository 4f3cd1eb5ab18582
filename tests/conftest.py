"""Servers, databases and accounts for tests. A server starts with the first test that needs it."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import redis
import structlog
from clean_database import CleanDatabase
from hypothesis import HealthCheck, settings
from payers import Payer, open_account
from servers import start_postgres, start_redis

from capabilities.index_check.results.jobs import PROVIDERS
from pipeline.database import Database
from pipeline.lifecycle.migrations import migrate
from scripts.system.embedded.roles import OWNER, ROLE

#: Fixtures that tests of several folders use.
pytest_plugins = ("api_fixtures", "pipeline_fixtures", "command_fixtures", "sites_fixtures", "system_fixtures")

# No test asks a service on the Internet; one that has a fake on loopback says so itself.
os.environ["PRESSROOM_SYNTHESIS__ENGINES"] = "espeak"
os.environ["XDG_STATE_HOME"] = "/dev/null"  # a system of a test is not to be found by others
os.environ["PRESSROOM_MODELS__DOWNLOAD"] = "never"
os.environ["PRESSROOM_SEARCH__PROVIDERS"] = "duckduckgo,bing"
#: Nothing listens there.
os.environ |= {f"PRESSROOM_SEARCH__{provider.upper()}__URL": "http://127.0.0.1:9/" for provider in PROVIDERS}

# Where nothing compiled may be kept, as images often have it, each process that a test starts compiles everything anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Examples are the same in every run, and may take as long as a busy machine needs.
settings.register_profile(
    "pressroom", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pressroom")

# Rich takes up to seconds to draw the variables of each exception that a test has logged.
for processor in structlog.get_config()["processors"]:
    if isinstance(processor, structlog.dev.ConsoleRenderer):
        processor.exception_formatter = structlog.dev.plain_traceback

#: A migrated database that the others are copied from, in a twentieth of a second.
TEMPLATE = "migrated"

#: Each process has a PostgreSQL and a Redis of its own, and more processes than large files gain nothing.
MOST_CORES = 8
#: Files that share a system, or torch, which loads for ten seconds; one process runs those of a group.
TOGETHER = {
    **dict.fromkeys(
        (
            "test_alt_text_service.py",
            "test_audiobooks.py",
            "test_client_library.py",
            "test_documented_commands.py",
            "test_generated_client.py",
            "test_index_checks.py",
            "test_javascript_client.py",
            "test_marks.py",
            "test_mcp.py",
            "test_openai_clients.py",
            "test_openapi_holds.py",
            "test_speech_routes.py",
        ),
        "shared",
    ),
    **dict.fromkeys(
        (
            "test_audiobook_page.py",
            "test_dashboard_in_a_browser.py",
            "test_default_voices.py",
            "test_many_at_once.py",
            "test_sites_in_a_browser.py",
        ),
        "dashboard",
    ),
    **dict.fromkeys(
        (
            "test_diffusion.py",
            "test_picture_safety.py",
            "test_speaker_weights.py",
            "test_vlm.py",
            "test_weights.py",
            "test_whisper.py",
        ),
        "torch",
    ),
}

_numbers = count(1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` runs: one more than cores, because tests of whole systems wait at times.

    Each costs 15 s of a core before its first test, for imports and servers."""
    return min(os.cpu_count() or 1, MOST_CORES) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process, and those of files that share a system or torch."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return TOGETHER.get(file.rpartition("/")[2], file)

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the files with whole systems first: the longest would otherwise run alone at the end.

    The one that asks a system for anything comes last of them: what it leaves to do would keep others waiting."""
    items.sort(key=lambda item: (item.get_closest_marker("system") is None, item.path.name == "test_openapi_holds.py"))


def named(url: str, database: str) -> str:
    """Return the URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL, its database empty, by the superuser, who can make more of them."""
    with start_postgres(tmp_path_factory.mktemp("postgres")) as url:
        yield url.replace(ROLE, OWNER)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis, whatever earlier tests left in it; take `redis_url`."""
    with start_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """An empty Redis."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture(scope="session")
def make_database(postgres_url: str) -> Iterator[Callable[..., str]]:
    """A function that makes a database of one's own, migrated unless another template is named; returns its URL."""
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {TEMPLATE}")
        migrate(named(postgres_url, TEMPLATE))

        def make(*, template: str = TEMPLATE) -> str:
            name = f"test_{next(_numbers)}"
            server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
            return named(postgres_url, name)

        yield make


@pytest.fixture(scope="session")
def clean_database(make_database: Callable[..., str], postgres_url: str) -> CleanDatabase:
    """The database that one test after another has for itself."""

    def drop(url: str) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as server:
            server.execute(f"DROP DATABASE {urlsplit(url).path[1:]} WITH (FORCE)")

    return CleanDatabase(make_database, drop)


@pytest.fixture
def database_url(clean_database: CleanDatabase) -> Iterator[str]:
    """A migrated database, this test's alone."""
    yield clean_database.take()
    clean_database.give_back()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same, as the workers use it."""
    with Database(database_url) as opened:
        yield opened


@pytest.fixture
def payer(database: Database) -> Payer:
    """An account with 1,000 credits and no rate limits worth mentioning."""
    return open_account(database)
