"""A real WordPress: 300 pictures and 20 posts are given texts and parts, and undone, by a system that is killed."""

import hashlib
import io
import itertools
import json
import subprocess
import sysconfig
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from model_server import ModelServer, chat, drawing
from PIL import Image, UnidentifiedImageError
from systems import FAST, Running, clean_environment, command, kill, run_command, system
from tools import skip
from waiting import wait_for
from wordpress_site import WordPress, image_block, missing, wordpress

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from workers.media.audio.pcm import Pcm, encode_wav

pytestmark = [pytest.mark.system, pytest.mark.storm, pytest.mark.timeout(1_200)]

PICTURES, POSTS, SPOKEN = 300, 30, 20
#: Shortest side of a picture, in pixels.
LEAST = 96
FOLDERS = (Path(sysconfig.get_path("purelib")), Path("/usr/share"))
CHAT = "/chat/completions"
METADATA = {"excerpt": "Twelve boats sail around the island, and the ferry waits until all of them are back in port.",
            "category": "News", "tags": ["boats", "harbour", "regatta", "ferry", "island"]}  # fmt: skip
PARTS = ("excerpt", "tags", "cover", "audio")
#: Changes by state.
STATES: Statement[dict[str, int]] = Statement(
    "SELECT state, count(*) AS number FROM site_change GROUP BY state",
    {},
    lambda rows: {row["state"]: row["number"] for row in rows},
)
CHARGED: Statement[int] = Statement(
    "SELECT coalesce(sum(credits_captured), 0) AS credits FROM job", {}, lambda rows: int(rows[0]["credits"])
)


def found_pictures() -> Iterator[bytes]:
    """Yield pictures of installed packages, and then crops of them, each as another JPEG of at most 640 pixels."""
    names = {name for folder in FOLDERS for end in ("jpg", "jpeg", "png") for name in folder.rglob(f"*.{end}")}
    for part in (1, 0.8, 0.65, 0.5, 0.4):
        if part < 1:
            print(f"too few pictures in packages: crops of {part} follow")
        for name in sorted(names):
            try:
                with Image.open(name) as opened:
                    opened.thumbnail((640, 640))
                    one = opened.convert("RGBA").convert("RGB")
            except (UnidentifiedImageError, OSError, ValueError):
                continue
            width, height = round(one.width * part), round(one.height * part)
            if min(width, height) >= LEAST:
                file = io.BytesIO()
                one.crop((one.width - width, 0, one.width, height)).save(file, "JPEG", quality=85)
                yield file.getvalue()


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    numbers = itertools.count(1)

    def answer(body: Any) -> Any:
        if "image_url" not in str(body["messages"]):
            return chat(METADATA)
        text = f"Boat number {next(numbers)} leaves the harbour at noon"
        return chat({"short": text, "long": f"{text}.", "seo": text})

    def speech(body: Any) -> web.Response:
        # A second for fifteen characters: less is refused.
        sound = bytes(48_000 * (1 + len(body["input"]) // 15))
        return web.Response(body=encode_wav(Pcm(sound, 24_000)), content_type="audio/wav")

    answers: dict[str, Any] = {"/models": {"data": [{"id": "any"}]}, CHAT: answer, "/audio/speech": speech,
                               "/images/generations": drawing((512, 256))}  # fmt: skip
    with ModelServer(answers) as running:
        yield running


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordPress]:
    """A site whose posts show ten pictures each, none of them with a text."""
    if (why := missing()) is not None:
        skip("wordpress", why)
    with wordpress(tmp_path_factory.mktemp("wordpress")) as site:
        unique: dict[bytes, bytes] = {}
        for one in found_pictures():
            unique.setdefault(hashlib.sha256(one).digest(), one)
            if len(unique) == PICTURES:
                break
        contents = list(unique.values())
        assert len(contents) == PICTURES
        media = [site.add_picture(f"picture{n}.jpg", one) for n, one in enumerate(contents)]
        for n in range(POSTS):
            blocks = "\n\n".join(map(image_block, media[n * 10 : n * 10 + 10]))
            site.add_post(f"Regatta {n}", f"{blocks}\n\n<p>Boats race on day {n}, and the ferry waits for them.</p>")
        yield site


@pytest.fixture(scope="module")
def service(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    own = {"URL": server.url} | dict.fromkeys(("CAPTIONS", "POSTS", "COVERS", "SPEECH"), "any")
    extra = {name: value for name, value in FAST.items() if name != "PRESSROOM_KINDS"}
    extra |= {f"PRESSROOM_ENDPOINTS__HOUSE__{name}": value for name, value in own.items()}
    extra |= {"PRESSROOM_SYNTHESIS__ENGINES": "house", "PRESSROOM_MODELS__DOWNLOAD": "never"}
    extra |= {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}
    pools = ("--pool", "search_check=0", "--pool", "transcription=0")
    with system(tmp_path_factory.mktemp("site") / "data", *pools, extra=extra) as running:
        yield running


@pytest.fixture(scope="module")
def site(service: Running, harbour: WordPress) -> str:
    """The name of the site, which is added to an account of its own."""
    assert service.key
    with Database(service.database_url) as database:
        read = Statement("SELECT id::text FROM account WHERE name = 'test'", {}, lambda rows: str(rows[0]["id"]))
        account = database.run(read)
    added = run_command("site", "add", harbour.url, "--user", "admin", "--name", "harbour", "--account", account,
                        "--data", str(service.data), SITE_PASSWORD=harbour.passwords["admin"],
                        PRESSROOM_FETCH__ALLOW_NETWORKS="127.0.0.0/8")  # fmt: skip
    assert added.returncode == 0, added.stderr
    return "harbour"


def stored(site: WordPress) -> str:
    """Return all that a site has of media and posts, without the moments of change."""
    found = []
    for kind in ("media", "posts"):
        for page in itertools.count(1):
            some = site.ask("GET", f"/{kind}?context=edit&per_page=99&page={page}&orderby=id&order=asc")
            found += [{k: v for k, v in one.items() if not k.startswith(("modified", "_links"))} for one in some]
            if len(some) < 99:  # a page past the end answers 400
                break
    return json.dumps(found, sort_keys=True)


def run(service: Running, *arguments: str) -> str:
    """Run a command about the site to its end; returns its last line."""
    ran = run_command("site", *arguments, "--data", str(service.data))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    print(ran.stderr)  # why something was not written
    return ran.stdout.splitlines()[-1]


def interrupt(service: Running, arguments: tuple[str, ...], is_due: Callable[[dict[str, int]], bool]) -> None:
    """Run a command, and kill it, the workers and the sweep when enough is done."""
    started = subprocess.Popen(command("site", *arguments, "--data", str(service.data)), env=clean_environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    with Database(service.database_url) as database:
        # A pool that is killed again rests before it starts.
        wait_for(lambda: is_due(database.run(STATES)), seconds=400)
    started.kill()
    started.wait()
    for pool in ("vision", "synthesis", "sweep"):
        for pid in service.pids(pool):
            kill(pid)


def test_300_pictures_are_described_and_written_through_kills_charged_once_and_undone(
    service: Running, harbour: WordPress, server: ModelServer, site: str
) -> None:
    before, described = stored(harbour), ("alt-text", site, "--yes", "--at-least", "0")
    began = time.monotonic()

    interrupt(service, described, lambda states: states.get("proposed", 0) >= PICTURES // 4)
    interrupt(service, described, lambda states: states.get("written", 0) >= PICTURES // 4)
    last = run(service, *described)
    seconds = time.monotonic() - began

    assert last == f"done written={PICTURES + POSTS}"
    texts = [harbour.ask("GET", f"/media?per_page=100&page={page}&_fields=alt_text") for page in (1, 2, 3)]
    assert len({one["alt_text"] for some in texts for one in some} - {""}) == PICTURES
    assert 'alt=""' not in stored(harbour).replace('\\"', '"')
    with Database(service.database_url) as database:
        assert database.run(CHARGED) == PICTURES
        assert database.run(discrepancies()) == []
    asked = len([path for path in server.paths() if path == CHAT])
    bare = seconds_of_the_double(server)
    print(f"{seconds / PICTURES:.3f} s a picture with two kills, {bare:.4f} s by the bare double; {asked} calls")

    began = time.monotonic()
    assert run(service, "undo", site) == f"undone undone={PICTURES + POSTS}"
    print(f"{(time.monotonic() - began) / PICTURES:.3f} s a picture to undo")
    assert stored(harbour) == before


def test_20_posts_get_excerpt_tags_cover_and_audio_through_kills_charged_once_and_are_undone(
    service: Running, harbour: WordPress, site: str
) -> None:
    before = stored(harbour)
    posts = [one["link"] for one in json.loads(before) if one["type"] == "post" and "Regatta" in one["title"]["raw"]]
    posts = posts[:SPOKEN]
    words = [word for part in PARTS for word in ("--part", part)] + [word for one in posts for word in ("--post", one)]
    chosen = ("posts", site, *words, "--yes", "--at-least", "0")
    with Database(service.database_url) as database:
        charged = database.run(CHARGED)
        written = database.run(STATES).get("written", 0)
    began = time.monotonic()

    interrupt(service, chosen, lambda states: states.get("proposed", 0) >= SPOKEN)
    interrupt(service, chosen, lambda states: states.get("written", 0) - written >= SPOKEN)
    last = run(service, *chosen)

    print(f"{(time.monotonic() - began) / SPOKEN:.2f} s a post with four parts and two kills")
    assert last == f"done written={SPOKEN * len(PARTS)}"
    given = [one for one in json.loads(stored(harbour)) if one.get("link") in posts]
    assert [len(one["tags"]) for one in given] == [len(METADATA["tags"])] * SPOKEN
    assert {one["excerpt"]["raw"] for one in given} == {METADATA["excerpt"]}
    assert len({one["featured_media"] for one in given} - {0}) == SPOKEN
    assert all(one["content"]["raw"].startswith("<!-- wp:audio") for one in given)
    with Database(service.database_url) as database:
        assert database.run(CHARGED) - charged == SPOKEN * (3 + 1)
        assert database.run(discrepancies()) == []
    began = time.monotonic()
    run(service, "undo", site)
    print(f"{(time.monotonic() - began) / SPOKEN:.2f} s a post to undo")
    assert stored(harbour) == before


def seconds_of_the_double(server: ModelServer) -> float:
    """Return the time of one picture by the engine's double alone, without a system."""
    picture = next(found_pictures())
    body = json.dumps({"messages": [{"content": [{"image_url": picture.hex()}]}]}).encode()
    request = urllib.request.Request(server.url + CHAT, body, {"Content-Type": "application/json"})
    began = time.monotonic()
    for _ in range(50):
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    return (time.monotonic() - began) / 50
