"""The JavaScript client, as its users have it: built, installed from its file, and run by Node with a whole system."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import tools
from PIL import Image
from systems import Running

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "javascript"
CHECKS = Path(__file__).with_name("javascript_client.mjs")
RECORDING = ROOT / "tests" / "recordings" / "weather.flac"
STRICT = """import { Pressroom, verifyWebhook, type Job } from "pressroom-client";
export async function use(body: string, headers: Record<string, string>): Promise<Job | undefined> {
  const client = new Pressroom({ apiKey: "pr_live_…" });
  // @ts-expect-error a field of another type
  await client.speak("Hello.", { speed: "fast" });
  // @ts-expect-error no such route
  await client.api.GET("/nowhere");
  const event = await verifyWebhook(body, headers, "whsec_…");
  const { data } = await client.api.GET("/jobs", { params: { query: { limit: 1 } } });
  return event.data.id ? client.submit("/tts", { text: "Hello." }, { idempotencyKey: event.data.id }) : data?.[0];
}
"""


def run(folder: Path, *command: str, **environment: str) -> str:
    ran = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=400, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def app(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program's folder with the client in it, and TypeScript beside it."""
    npm, folder = tools.require("npm"), tmp_path_factory.mktemp("javascript")
    left_out = shutil.ignore_patterns("node_modules", "dist", "*.tgz", "LICENSE", "schema.ts")
    package = shutil.copytree(PACKAGE, folder / "clients" / "javascript", ignore=left_out)
    shutil.copy(ROOT / "LICENSE", folder)
    (package / "openapi.json").write_bytes(service.ask("/openapi.json").body)
    got = subprocess.run(
        [npm, "ci", "--no-audit", "--no-fund"], cwd=package, capture_output=True, text=True, check=False
    )
    if got.returncode:
        tools.skip("npm", f"npm can't get packages: {got.stderr.strip()[-300:]}")
    run(package, npm, "run", "build")
    packed = run(package, npm, "pack", "--silent").strip()
    made = folder / "app"
    made.mkdir()
    (made / "package.json").write_text('{"private": true}')
    run(made, npm, "install", "--no-audit", "--no-fund", str(package / packed))
    return made


def test_the_client_does_what_it_promises(app: Path, service: Running) -> None:
    shutil.copy(CHECKS, app / "checks.mjs")
    run(app, tools.require("node"), "checks.mjs", BASE=service.address, KEY=service.key)


def test_the_readme_s_examples_run_and_types_are_strict(app: Path, service: Running) -> None:
    examples = re.findall(r"^```js\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (app / "example.mjs").write_text("\n".join(examples))
    (app / "strict.mts").write_text(STRICT)
    shutil.copy(RECORDING, app / "interview.flac")
    Image.new("RGB", (320, 200), "#14325a").save(app / "banner.jpg")

    environment = {"PRESSROOM_URL": service.address, "PRESSROOM_API_KEY": service.key}
    written = run(app, tools.require("node"), "example.mjs", **environment).splitlines()
    assert written[-1].startswith("voice_unknown 400 There is no voice")
    assert (app / "morning.wav").read_bytes()[:4] == b"RIFF"
    assert (app / "chapter.mp3").stat().st_size > 1_000

    package = app.parent / "clients" / "javascript"
    shutil.copytree(package / "node_modules" / "@types", app / "node_modules" / "@types")
    shutil.copytree(package / "node_modules" / "undici-types", app / "node_modules" / "undici-types")
    asked = (
        "--noEmit",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--strict",
        "--noImplicitAny",
        "false",
        "--checkJs",
    )
    run(app, str(package / "node_modules/.bin/tsc"), *asked, "strict.mts", "example.mjs")
