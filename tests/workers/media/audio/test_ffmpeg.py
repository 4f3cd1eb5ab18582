"""ffmpeg: found, limited, and ended."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from servers import wait_for_end

from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.media.audio.ffmpeg import KEPT_CHARACTERS, KEPT_LINES, Ffmpeg, FfmpegFailed, find_ffmpeg

#: Noise without end, to nowhere.
ENDLESS = ["-f", "lavfi", "-i", "anoisesrc", "-f", "null", "-"]


def start(ffmpeg: Ffmpeg, arguments: list[str], **options):
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "time_limit": timedelta(seconds=60), **options}
    return ffmpeg.start(arguments, **options)


def test_another_ffmpeg_is_taken_by_setting(ffmpeg, tmp_path):
    assert find_ffmpeg(Settings(ffmpeg=ffmpeg.path)) == ffmpeg
    with pytest.raises(NotReady, match="PRESSROOM_FFMPEG"):
        find_ffmpeg(Settings(ffmpeg=str(tmp_path / "none")))


@pytest.mark.parametrize("program", ["#!/bin/sh\necho Input: file pipe", "\0"])
def test_one_that_is_too_old_or_none_is_not_taken(tmp_path, program):
    old = tmp_path / "ffmpeg"
    old.write_text(program)
    old.chmod(0o755)

    with pytest.raises(NotReady, match="version 6 or newer"):
        find_ffmpeg(Settings(ffmpeg=str(old)))


def test_a_run_past_its_time_is_ended_and_says_so(ffmpeg):
    with start(ffmpeg, ENDLESS, time_limit=timedelta(seconds=0.3)) as run, pytest.raises(FfmpegFailed, match="stopped"):
        run.check()


def test_its_message_with_the_paths_of_the_machine_is_for_the_log(ffmpeg):
    with start(ffmpeg, ["-i", "/gone/a.wav", "-f", "null", "-"]) as run, pytest.raises(FfmpegFailed) as failed:
        run.check()

    assert "/gone" not in failed.value.message


def test_a_run_ends_when_its_process_is_killed(ffmpeg):
    if not ffmpeg.tether:
        pytest.skip("no setpriv that sets a parent's death signal")
    script = (
        "import subprocess, time; from datetime import timedelta; from workers.media.audio.ffmpeg import Ffmpeg;"
        f"run = Ffmpeg({ffmpeg.path!r}, {ffmpeg.tether!r}).start({ENDLESS!r}, stdin=subprocess.DEVNULL,"
        " stdout=subprocess.DEVNULL, time_limit=timedelta(seconds=120));"
        "print(run._process.pid, flush=True); time.sleep(120)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as worker:
        pid = int(worker.stdout.readline())
        worker.kill()

    wait_for_end(pid, seconds=60)


def test_what_it_says_is_kept_in_part(ffmpeg, tmp_path):
    # Packets of garbage, an error message each.
    garbage = tmp_path / "garbage.mp3"
    garbage.write_bytes(b"\xff\xfb\x90\x00" * 200_000)
    with garbage.open("rb") as file, start(ffmpeg, ["-f", "mp3", "-i", "pipe:", "-f", "null", "-"], stdin=file) as run:
        run.wait()

        assert 0 < len(run.said()) < KEPT_LINES * (KEPT_CHARACTERS + 3)


def test_memory_and_files_are_limited(ffmpeg):
    with start(ffmpeg, ENDLESS) as run:
        limits = Path(f"/proc/{run._process.pid}/limits").read_text()

    assert "Max address space         2147483648" in limits
    assert "Max open files            16 " in limits


def test_a_file_that_grows_past_its_limit_ends_the_run(ffmpeg, tmp_path):
    with (tmp_path / "out").open("wb") as out:
        with start(ffmpeg, [*ENDLESS[:-3], "-f", "s16le", "fd:"], stdout=out, max_output_bytes=100_000) as run:
            assert not run.wait()
        assert out.seek(0, 2) <= 100_000
