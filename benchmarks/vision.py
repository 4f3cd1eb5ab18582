"""Vision: pictures and a post through the llama engine beside bare llama.cpp, and what a worker grows by."""

import base64
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from gguf import GGMLQuantizationType as Kind
from PIL import Image
from tiny_gguf import Shape, build_gguf

from benchmarks.pictures import TOLD, picture_server
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom
from capabilities.alt_text.engines.llama import Llama
from capabilities.alt_text.settings import CaptioningSettings
from workers.engines.llama.server import CHILD

#: The shapes of the catalogue's models, whose speed does not depend on the values of their weights.
QWEN = Shape(
    layers=28, width=2_048, hidden=6_144, heads=16, pairs=8, head=128, words=151_936, kind=Kind.Q4_K, fine=Kind.Q6_K,
    sections=(24, 20, 20, 0), vision_layers=24, vision_width=1_024, vision_hidden=4_096, vision_heads=16,
    vision_kind=Kind.Q8_0, deep=(5, 11, 17), sway=0.02,
)  # fmt: skip
SMOL = Shape(
    "llama", layers=32, width=960, hidden=2_560, heads=15, pairs=5, head=64, words=49_280, kind=Kind.Q8_0,
    fine=Kind.Q8_0, vision_layers=12, vision_width=768, vision_hidden=3_072, vision_heads=12, vision_kind=Kind.Q8_0,
    side=512, longest=2_048, scale=4, deep=(), sway=0.02,
)  # fmt: skip
#: Tokens of an answer: three texts of mode `all`. A post is 2,000 tokens with an answer of 150.
ANSWER_TOKENS, POST_WORDS, POST_ANSWER = 80, 650, 150
ROUNDS = 3
#: Largest growth of a worker over the pictures of the second table, in MB.
GROWTH_MB = 24
LOOPBACK = {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8", "PRESSROOM_CAPTIONING__CACHE_HOURS": "0"}
PATIENCE_SECONDS = 3_000
#: Bare llama.cpp: the same options, its library called in the process that has the model.
BARE = """
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("child", sys.argv[1])
child = importlib.util.module_from_spec(spec)
spec.loader.exec_module(child)
server = child.load(json.loads(sys.stdin.readline()))
for line in sys.stdin:
    body = json.loads(line)
    began = time.perf_counter()
    server.handle_chat_completions(body)
    print(time.perf_counter() - began, flush=True)
"""


def measure(*, quick: bool) -> Iterator[Table]:
    """Describe many pictures without a model, then some with one of each of the catalogue's shapes."""
    with picture_server() as address:
        yield _memory(address, 1_000)
    with TemporaryDirectory(prefix="pressroom-gguf-") as folder:
        for name, shape in {"smolvlm2-500m": SMOL, "qwen3-vl-2b": QWEN}.items():
            if not quick or shape is SMOL:
                yield _describing(name, build_gguf(Path(folder) / name, shape), rounds=1 if quick else ROUNDS)


def _describing(name: str, folder: Path, *, rounds: int) -> Table:
    engine = Llama(CaptioningSettings(llama={"model": str(folder)}))
    engine.setup()
    server = engine.server
    table = Table(
        f"llama: {name}",
        f"Random weights of the true shape, {server.options.threads} threads, {server.options.slots} slots; a picture "
        f"of 1,024 x 768 with {ANSWER_TOKENS} tokens of text, a post of about 2,000 tokens; raw: the library alone.",
    )
    options = {field: getattr(server.options, field) for field in server.options.__dataclass_fields__} | {"key": "k"}
    bare = subprocess.Popen([sys.executable, "-c", BARE, str(CHILD)], stdin=-1, stdout=-1, text=True)
    assert bare.stdin is not None
    assert bare.stdout is not None
    bare.stdin.write(json.dumps(options) + "\n")
    kinds = {"picture": (_picture, ANSWER_TOKENS), "post": (_post, POST_ANSWER)}
    for what, (content, most) in kinds.items():
        ours, raw, used = [], [], []
        for number in range(rounds + 1):
            messages = [{"role": "user", "content": content(number)}]
            # Random weights mostly say what it allows; else each token would be looked for among all.
            grammar = f'root ::= "\\"" [^"\\\\\\x00-\\x1F]{{{most},}} "\\""'
            before = _cpu_seconds(server.pid or 0), _cpu_seconds(bare.pid)
            began = time.perf_counter()
            server.ask(messages, grammar=grammar, most=most)
            ours.append(1 / (time.perf_counter() - began))
            body = {"messages": messages, "grammar": grammar, "max_tokens": most, "temperature": 0}
            bare.stdin.write(json.dumps(body) + "\n")
            bare.stdin.flush()
            raw.append(1 / float(bare.stdout.readline()))
            after = _cpu_seconds(server.pid or 0), _cpu_seconds(bare.pid)
            used.append(f"{after[0] - before[0]:.1f} and {after[1] - before[1]:.1f}")
        # The first reads the weights from the disk.
        ours, raw, used = ours[1:], raw[1:], used[1:]
        table.compare(f"a {what}", ours, raw, unit="/s", least=0.95)
        table.say(f"seconds a {what}", f"{1 / max(ours):.1f} s")
        table.say("of processors, ours and raw", ", ".join(used))
    table.say(
        "resident", f"{_memory_mb(server.pid or 0, 'VmRSS'):.0f} MB, at most {_memory_mb(server.pid or 0, 'VmHWM'):.0f}"
    )
    bare.kill()
    bare.communicate()
    server.stop()
    return table


def _post(number: int) -> str:
    return "word " * POST_WORDS + str(number)


def _picture(number: int) -> list[dict[str, object]]:
    file = io.BytesIO()
    Image.effect_noise((1_024, 768), 40 + number).convert("RGB").save(file, "JPEG", quality=90)
    url = "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode()
    return [{"type": "text", "text": "word " * 100}, {"type": "image_url", "image_url": {"url": url}}]


def _memory(address: str, count: int) -> Table:
    table = Table("Memory of a vision worker", f"Resident MB after each tenth of {count:,} photos of 1.7 megapixels.")
    sizes = []
    with pressroom(**LOOPBACK, PRESSROOM_CAPTIONING__ENGINES="basic") as running:
        for tenth in range(10):
            numbers = range(tenth * count // 10, (tenth + 1) * count // 10)
            images = [{"image_url": f"{address}/{number}.jpg"} for number in numbers]
            answer = running.ask("/batch", {"images": images}, timeout=PATIENCE_SECONDS).json
            assert [result["alt_text"] for result in answer["results"]] == [TOLD] * len(images)
            sizes.append(_worker_mb(running, "VmRSS"))
        peak = _worker_mb(running, "VmHWM")
    grown = sizes[-1] - sizes[1]
    table.say("resident", " ".join(f"{size:.0f}" for size in sizes))
    table.say("at most", f"{peak:.0f} MB")
    table.say("grown since the second", f"{grown:.1f} MB", target=f"≤ {GROWTH_MB} MB", is_met=grown <= GROWTH_MB)
    return table


def _worker_mb(running: Running, field: str) -> float:
    (pid,) = running.pids("vision")
    return _memory_mb(pid, field)


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process: on a busy machine it says more than the wall clock's."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _memory_mb(pid: int, field: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1_024
