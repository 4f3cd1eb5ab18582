"""Runs commands of `pressroom` for shells, each forked from a process that has imported them, which saves a second.

`python command_server.py SOCKET` serves; `python command_server.py SOCKET COMMAND…` has a command run, with the files,
the folder and the environment of its own, and ends with its exit code."""

import json
import os
import signal
import socket
import sys
from pathlib import Path


def ask(path: str, arguments: list[str]) -> int:
    """Have a command run; return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        asked = json.dumps([arguments, str(Path.cwd()), dict(os.environ)]).encode()
        socket.send_fds(connection, [len(asked).to_bytes(4, "big")], [0, 1, 2])
        connection.sendall(asked)
        return int.from_bytes(connection.recv(1) or b"\1", "big")


def serve(path: str) -> None:
    """Run commands for ever."""
    from scripts.main import create_app

    create_app()  # imports all commands
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            length, files, _, _ = socket.recv_fds(connection, 4, 3)
            if os.fork() == 0:
                listener.close()
                connection.sendall(bytes([run(connection, int.from_bytes(length, "big"), files)]))
                os._exit(0)
            connection.close()
            for file in files:
                os.close(file)


def run(connection: socket.socket, length: int, files: list[int]) -> int:
    """Be the command; return its exit code."""
    from scripts.main import main

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rb") as sent:
        arguments, folder, environment = json.loads(sent.read(length))
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["pressroom", *arguments]
    code: object = None
    try:
        main()
    except SystemExit as ended:  # any other exception ends this process, and the connection without a code
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
