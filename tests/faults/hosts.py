"""Hosts: network namespaces on one bridge, each with an address and a boot id, that can be cut off and brought back."""

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from uuid import uuid4

import tools

from scripts.system.programs import environment

#: Gives a host a boot id of its own: first a file with it, then the command. `ip netns exec` has a mount namespace.
AS_BOOTED = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
#: A network that no machine's own is likely to be.
NETWORK = "10.213.77"
PREFIX = 24


def ip(*words: str, may_fail: bool = False) -> None:
    """Run `ip`."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert may_fail or not done.returncode, f"ip {' '.join(words)}: {done.stderr}"


@dataclass
class Host:
    """A network namespace, and what runs in it."""

    name: str
    address: str
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    processes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def boot_id(self) -> Path:
        """The file with the boot id that programs here read."""
        return self.folder / "boot_id"

    @property
    def machine(self) -> str:
        """The last digits of its processes' leases."""
        return hashlib.sha256(self.boot_id.read_bytes()).hexdigest()[:8]

    @property
    def log(self) -> Path:
        """Where all that runs here writes."""
        return self.folder / "log"

    def start(self, argv: Sequence[str], **settings: str) -> "subprocess.Popen[bytes]":
        """Start a program here, in a process group of its own."""
        with self.log.open("ab") as output:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.name, "sh", "-c", AS_BOOTED, str(self.boot_id), *argv],
                cwd=Path(__file__).parents[2],
                env=environment() | dict(self.settings) | settings,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def cut_off(self) -> None:
        """Pull the cable: nothing comes or goes, and nobody is told."""
        ip("link", "set", f"{self.name}v", "down")

    def bring_back(self) -> None:
        """Put the cable back."""
        ip("link", "set", f"{self.name}v", "up")

    def written(self) -> str:
        """Return the end of what was written here."""
        return self.log.read_text(errors="replace")[-4_000:] if self.log.exists() else ""

    def close(self) -> None:
        """End all that runs here."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(60)


@contextmanager
def network(folder: Path) -> Iterator[Callable[..., Host]]:
    """Lay a network until the block ends; gives what adds a host to it. This process is on it as well.

    Skips the test where that isn't permitted, or fails it where PRESSROOM_TESTS_NEED names netns."""
    mark = f"pr{os.getpid() % 100_000}"
    bridge = f"{mark}br"
    if not shutil.which("ip"):
        tools.skip("netns", "there is no `ip` (iproute2)")
    if subprocess.run(["ip", "netns", "add", f"{mark}x"], capture_output=True, check=False).returncode:
        tools.skip("netns", "this user may make no network namespace")
    ip("netns", "del", f"{mark}x")
    made: list[Host] = []
    numbers = count(1)

    def add(name: str, settings: Mapping[str, str] | None = None) -> Host:
        number = next(numbers)
        host = Host(f"{mark}{number}", f"{NETWORK}.{number}", folder / name, settings or {})
        host.folder.mkdir(parents=True)
        host.boot_id.write_text(f"{uuid4()}\n")
        ip("netns", "add", host.name)
        made.append(host)
        ip("link", "add", f"{host.name}v", "type", "veth", "peer", "name", "eth0", "netns", host.name)
        ip("link", "set", f"{host.name}v", "master", bridge, "up")
        ip("-n", host.name, "addr", "add", f"{host.address}/{PREFIX}", "dev", "eth0")
        for device in ("eth0", "lo"):
            ip("-n", host.name, "link", "set", device, "up")
        return host

    ip("link", "add", bridge, "type", "bridge")
    try:
        ip("addr", "add", f"{NETWORK}.254/{PREFIX}", "dev", bridge)
        ip("link", "set", bridge, "up")
        yield add
    finally:
        for host in reversed(made):
            host.close()
            ip("netns", "del", host.name, may_fail=True)
        ip("link", "del", bridge, may_fail=True)
