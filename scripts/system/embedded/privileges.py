"""Privileges: runs a server that refuses root as another user who still reaches its files.

Another user can't reach a clone or data under a 0700 home such as /root. So the server keeps one capability, to search
folders and to read (CAP_DAC_READ_SEARCH), made ambient so that exec passes it on.
docs/decisions/0006-embedded-servers.md has the alternatives."""

import ctypes
import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import NotReady

# <linux/capability.h>, <linux/prctl.h>
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522
PR_SET_SECUREBITS = 28
SECBIT_NO_SETUID_FIXUP = 1 << 2
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2


@dataclass(frozen=True)
class User:
    """An unprivileged user of this machine."""

    uid: int
    gid: int

    @classmethod
    def for_server(cls, folder: Path) -> "User":
        """Return the user for the server of a folder: its owner, else postgres, else nobody."""
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        if folder.exists() and (owner := folder.stat().st_uid) != 0:
            return cls(owner, folder.stat().st_gid)
        for name in ("postgres", "nobody"):
            try:
                found = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(found.pw_uid, found.pw_gid)
        raise NotReady("PostgreSQL does not run as root, and there is no user postgres or nobody. Set DATABASE_URL.")


def lowest_privileges(user: User, command: Sequence[str], *, reads: Sequence[Path]) -> int | None:
    """Return the capability that `user` needs to run `command` and read these folders, or None."""
    for capability in (None, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE):
        if _works(user, capability, command, reads):
            return capability
    raise NotReady(
        f"User {user.uid}, who runs PostgreSQL because root may not, can't reach {' or '.join(map(str, reads))}. "
        "Run Pressroom as another user, move its folder out of a private home, or set DATABASE_URL."
    )


def become(user: User, capability: int | None) -> None:
    """Change this process, and programs that it becomes, to a user with at most one capability."""
    if capability is not None:
        # Keeps capabilities over the change of user, until they are set below, and lets access(2) count them, by which
        # initdb and postgres check their own files.
        _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)
    os.setgroups([])
    os.setgid(user.gid)
    os.setuid(user.uid)
    if capability is not None:
        _set_only_capability(capability)
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def _works(user: User, capability: int | None, command: Sequence[str], reads: Sequence[Path]) -> bool:
    if capability is not None and sys.platform != "linux":
        return False

    def try_it() -> None:
        become(user, capability)
        if not os.access(command[0], os.R_OK | os.X_OK) or not all(
            os.access(path, os.R_OK | os.X_OK) for path in reads
        ):
            raise PermissionError

    try:
        # The launcher has one thread, so code between fork and exec is safe.
        run = subprocess.run(command, preexec_fn=try_it, capture_output=True, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return run.returncode == 0


def _set_only_capability(capability: int) -> None:
    bit = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)  # effective, permitted, inheritable; then the high words
    _check(_libc().capset(header, sets))


def _prctl(option: int, *arguments: int) -> None:
    _check(_libc().prctl(option, *map(ctypes.c_ulong, [*arguments, 0, 0, 0, 0][:4])))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
