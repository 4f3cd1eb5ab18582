"""Audiobooks: books of Debian packages, made whole while the pools are killed every minute, beside the bare voice."""

import gzip
import io
import os
import re
import signal
import struct
import subprocess
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import imageio_ffmpeg

from benchmarks.report import Table
from benchmarks.streams import load_engine
from benchmarks.systems import Running, pressroom
from benchmarks.transcription import MIB
from capabilities.audiobooks.handlers.containers import AAC
from capabilities.speech.normalization.sentences import sentences
from capabilities.speech.voices.voices import pick_voice
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from pressroom import Pressroom

import spoken  # isort: skip  the tests' folder is on the path by benchmarks.systems
from waiting import wait_for  # isort: skip

#: Packages, files and voices of three books, all in the public domain: Pride and Prejudice, a text with chapters; The
#: Devil's Dictionary, which becomes Markdown with a chapter a letter; and 300 Tang Poems, which become HTML.
BOOKS = (
    ("r-cran-janeaustenr", "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb", "en-US"),
    ("dict-devil", "usr/share/dictd/devil.dict.dz", "en-US"),
    ("fortunes-zh", "usr/share/games/fortunes/tang300", "cmn"),
)
#: Characters of each book with --quick, and by a natural voice; and of the sample that is heard, with its sentences
#: also spoken one by one.
QUICK, NATURAL, HEARD = 20_000, 12_000, 18_000
KILLED_EVERY_SECONDS = 60
LEAST_RATIO, MOST_ADDED_MIB = 0.95, 300
SENTENCE = "This sentence was changed after the book had been read."


def measure(*, quick: bool) -> Iterator[Table]:
    """Speak each book undisturbed, with kills, and by the engine alone; then change a sentence."""
    idle = [argument for pool in ("vision", "search_check") for argument in ("--pool", f"{pool}=0")]
    # Two processes: one joins the file of a book while the other speaks.
    idle += ["--pool", "synthesis=2"]
    with (
        TemporaryDirectory(prefix="pressroom-benchmark-") as name,
        pressroom(*idle, PRESSROOM_SYNTHESIS__ENGINES="hibari,espeak", PRESSROOM_WORK__LEASE_SECONDS="10") as running,
        Pressroom(running.key, url=running.address) as client,
    ):
        wait_for(lambda: any(voice.name == "Heart" for voice in client.voices()))
        for book, voice in _books(Path(name)):
            if voice == BOOKS[0][2] and book.suffix == ".txt":
                yield _measure_listening(client, book)
                yield _measure_book(running, client, book, NATURAL, ("hibari", "Heart"))
            yield _measure_book(running, client, book, QUICK if quick else None, ("espeak", voice))


def _measure_listening(client: Pressroom, book: Path) -> Table:
    """Have Whisper write down a chapter, and its sentences, each spoken alone."""
    text = " ".join(book.read_text().partition("Chapter 1\n")[2].split())
    said = [one.strip() for one in sentences(text[:HEARD], "en")][:-1]
    table = Table("Words wrong by Whisper", f"{len(said)} sentences by Heart: as a chapter, and each spoken alone.")
    job = client.wait(client.make_audiobook(chapters=[{"text": " ".join(said)}], voice="Heart").id)
    with zipfile.ZipFile(io.BytesIO(client.audiobook_file(job.id, form="mp3").content)) as archive:
        heard = client.transcribe(archive.read(archive.namelist()[0]), language="en").text
    alone = [client.transcribe(client.speak(one, voice="Heart").content, language="en").text for one in said]
    whole, single = (spoken.word_error_rate(" ".join(said), one) for one in (heard, " ".join(alone)))
    table.say("words wrong in the chapter", f"{whole:.1%}", target=f"≤ {single:.1%}", is_met=whole <= single)
    return table


def _measure_book(running: Running, client: Pressroom, book: Path, most: int | None, voice: tuple[str, str]) -> Table:
    plan = client.plan_audiobook(book)
    only, characters = [], 0
    for chapter in plan.chapters:
        if most is None or characters + chapter.characters <= most:
            only.append(chapter.number)
            characters += chapter.characters
    table = Table(plan.title, f"{characters:,} characters in {len(only)} chapters; voice {voice[1]}.")
    seconds: dict[bool, float] = {}
    sounds: dict[bool, str] = {}
    first, raw = "", 0.0
    for kills in (False, True):
        began = time.monotonic()
        job = client.make_audiobook(plan.plan, only=only, voice=voice[1], idempotency_key=f"{book.name}{voice}{kills}")
        times, added = _wait(running, client, job.id, kills=kills)
        seconds[kills] = time.monotonic() - began
        ended = client.job(job.id)
        right = ended.state == "succeeded" and ended.credits.captured == ended.credits.held
        told = f"{seconds[kills]:.0f}, {ended.state}, {ended.credits.captured}"
        table.say(f"seconds, state, credits, pools killed {times} times", told, is_met=right)
        table.say("memory that it adds to a pool's process", f"{added:.0f} MiB", is_met=added <= MOST_ADDED_MIB)
        took, sounds[kills] = _measure_file(running, client, job.id, table, kills=kills)
        if kills:
            off = _difference(client, job.id, first, len(only))
            table.say("most that a passage's length differs", f"{off:.2%}", target="≤ 0.5 %", is_met=off <= 0.005)
            if voice[0] != "espeak":
                is_same = sounds[True] == sounds[False]
                table.say("the M4B has the same sound", str(is_same), target="True", is_met=is_same)
        else:
            first = job.id
            seconds[kills] += took
            texts = [one["text"] for number in range(len(only)) for one in _passages(client, first, number + 1)]
            raw = _bare(texts, *voice)
    with Database(running.database_url) as database:
        wrong = len(database.run(discrepancies()))
    table.say("contradictions in the ledger", str(wrong), target="0", is_met=not wrong)
    made, bare = [characters / seconds[False]], [characters / raw]
    table.compare("characters a second, with the M4B", made, bare, unit="", least=LEAST_RATIO)
    began = time.monotonic()
    changed = client.wait(client.change_audiobook(first, {2: f"{texts[1]}\n\n{SENTENCE}"}).id)
    table.say("one sentence changed", f"{time.monotonic() - began:.1f} s, {changed.credits.captured} credits")
    return table


def _measure_file(running: Running, client: Pressroom, job_id: str, table: Table, *, kills: bool) -> tuple[float, str]:
    """Make an M4B for ACX, and measure it by the report of a transcript; return its seconds, and the hash of its sound.

    A report is not timed: the bare voice and encoder make none."""
    began = time.monotonic()
    made = client.submit(f"/audiobooks/{job_id}/files", {"format": "m4b", "loudness": "acx"})
    times, added = _wait(running, client, made.id, kills=kills)
    took = time.monotonic() - began
    told = client.submit(f"/audiobooks/{job_id}/files", {"format": "vtt", "loudness": "acx", "report": True})
    client.wait(told.id)
    report = client.result(told.id).json
    with TemporaryDirectory() as folder:
        client.result(made.id, to=(file := Path(folder) / "book.m4b"))
        found, due = _chapters(file), len(report["chapters"])
        sound = ["-v", "error", "-i", file, "-vn", "-c", "copy", "-f", "md5", "-"]
        hashed = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), *sound], capture_output=True, check=True, text=True)
        said = f"{took:.0f} s, {report['seconds']:.0f} s long, {file.stat().st_size / MIB:.0f} MiB, {found} chapters"
        table.say(f"its M4B, pools killed {times} times", said, target=f"{due} chapters", is_met=found == due)
    table.say("memory that it adds to a pool's process", f"{added:.0f} MiB", is_met=added <= MOST_ADDED_MIB)
    for name in ("loudness_lufs", "rms_db", "peak_db", "noise_floor_db"):
        measured = [chapter[name] for chapter in report["chapters"]]
        table.say(f"{name}, from and to", f"{min(measured)} to {max(measured)}", is_met=report["acx"])
    return took, hashed.stdout


def _wait(running: Running, client: Pressroom, job_id: str, *, kills: bool) -> tuple[int, float]:
    """Wait for a book; return how often its pool was killed, and the most memory in MiB that a process has added."""
    idle = [_mib(pid) for pid in running.pids("synthesis")]
    times, most, due = 0, 0.0, time.monotonic() + KILLED_EVERY_SECONDS / 2
    while not client.job(job_id).finished_at:
        workers = running.pids("synthesis")
        most = max([most, *map(_mib, workers)])
        if kills and time.monotonic() > due:
            times, due = times + 1, time.monotonic() + KILLED_EVERY_SECONDS
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
        time.sleep(1)
    return times, most - min(idle)


def _mib(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4_096 / MIB
    except OSError:  # it was just killed
        return 0.0


def _passages(client: Pressroom, job_id: str, chapter: int) -> list[dict[str, Any]]:
    return [passage.to_dict() for passage in client.audiobook_passages(job_id, chapter)]


def _difference(client: Pressroom, job_id: str, other: str, chapters: int) -> float:
    """Return by how much passages differ in length at most, of those with the same text; 1 if some has no equal.

    espeak's sound has noise, so that no two are the same."""
    most = 0.0
    for chapter in range(1, chapters + 1):
        pairs = zip(_passages(client, job_id, chapter), _passages(client, other, chapter), strict=True)
        for one, equal in pairs:
            if one["text"] != equal["text"] or not one["seconds"] or not equal["seconds"]:
                return 1.0
            most = max(most, abs(one["seconds"] / equal["seconds"] - 1))
    return most


def _bare(texts: Sequence[str], name: str, voice: str) -> float:
    """Return how long the engine alone takes for the texts, followed by one encoder, in seconds."""
    engine = load_engine(name)
    chosen = pick_voice(engine.voices(), voice_name=voice, language=None)
    engine.speak("Once, so that all is loaded.", voice=chosen.id)
    began = time.monotonic()
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-f", "s16le", "-ac", "1"]
    command += ["-ar", str(chosen.natural_sample_rate_hertz), "-i", "-", "-ar", "44100", *AAC[:-1]]
    with subprocess.Popen([*command, "-y", os.devnull], stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for text in texts:
            encoder.stdin.write(engine.speak(text, voice=chosen.id).samples)
    return time.monotonic() - began


def _chapters(file: Path) -> int:
    probe = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(file)]
    said = subprocess.run(probe, capture_output=True, check=False).stderr.decode()
    return len(re.findall(r"Chapter #0:\d+", said))


def _books(folder: Path) -> Iterator[tuple[Path, str]]:
    """Download the packages, and yield their books with their voices."""
    for (package, path, voice), read in zip(BOOKS, (_novel, _dictionary, _poems), strict=True):
        subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
        subprocess.run(["dpkg-deb", "-x", *folder.glob(f"{package}*.deb"), folder], check=True)
        ending, text = read((folder / path).read_bytes())
        (book := folder / f"{package}{ending}").write_text(text)
        yield book, voice


def _dictionary(packed: bytes) -> tuple[str, str]:
    """Return the preface and the entries of a dictionary, whose words begin their lines."""
    text = gzip.decompress(packed).decode()
    lines, letter = ["# The Devil's Dictionary", "", "## Preface", ""], ""
    for line in text[text.index("_The Devil's Dictionary_ was") :].splitlines():
        if re.match(r"[A-Z][A-Z' -]+,? ", line) and line[0] > letter:
            letter = line[0]
            lines += ["", f"## {letter}", ""]
        lines.append(line.strip())
    return ".md", "\n".join(lines)


def _poems(data: bytes) -> tuple[str, str]:
    """Return poems in the form of fortune as HTML: each has its title and its poet in lines of their own."""
    poems = [one.strip().splitlines() for one in re.sub(r"\x1b\[\d*m", "", data.decode()).split("\n%")]
    body = "".join(
        f"<h2>{escape(title)}</h2>" + "".join(f"<p>{escape(line)}</p>" for line in lines)
        for title, *lines in filter(None, poems)
    )
    return ".html", f'<html lang="zh"><title>唐诗三百首</title><h1>唐诗三百首</h1>{body}</html>'


def _novel(database: bytes) -> tuple[str, str]:
    """Return the longest text that has Mr. Darcy, of R's data: compressed vectors of strings."""
    found, at = [""], 0
    while at < len(database) - 8:
        packed = zlib.decompressobj()
        try:
            vector = packed.decompress(database[at + 4 :])
        except zlib.error:
            vector = b""
        if len(vector) != struct.unpack(">I", database[at : at + 4])[0] or not vector:
            at += 1
            continue
        at = len(database) - len(packed.unused_data)
        lines, place = [], 0
        while sign := re.compile(rb"\x00[\x04\x00][\x00\x08]\x09").search(vector, place):
            (length,) = struct.unpack(">i", vector[sign.end() : sign.end() + 4])
            place = sign.end() + 4 + max(0, length)
            lines.append(vector[sign.end() + 4 : place].decode(errors="replace"))
        found.append("\n".join(lines))
    return ".txt", max((text for text in found if "Darcy" in text), key=len)
