"""The files in deploy/ are valid by their tools, and in step with programs and settings."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import promql_parser
import pytest
import yaml

from api.exposition import HELP, render
from pipeline.operations.load import Load, QueueLoad
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from pipeline.settings.settings_sources import check_environment
from scripts.system import programs

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
SETTINGS = Settings()
QUEUES = queues(load_kinds(SETTINGS))
DRAIN = SETTINGS.work.drain_seconds


def command_of(program: tuple[str, ...]) -> list[str]:
    """Return a program's command as a person writes it."""
    words = list(program[program.index("-m") + 1 :])
    if words[0] == "scripts.main":
        words[0] = "pressroom"
    return [word for word in words if not word.startswith(("--chdir=", "--bind="))]


EXPECTED = {
    "api": command_of(programs.api(SETTINGS, bind="x")),
    "sweep": command_of(programs.sweep()),
    **{queue: command_of(programs.pool(queue)) for queue in QUEUES},
}


def documents(*files: Path) -> Iterator[dict[str, Any]]:
    for file in files:
        yield from filter(None, yaml.safe_load_all(file.read_text()))


def manifests() -> list[dict[str, Any]]:
    return list(documents(*(file for file in KUBERNETES.glob("*/*.yaml") if file.name != "kustomization.yaml")))


def without_bind(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("--bind=")]


def test_the_dockerfile_has_no_fault_that_hadolint_knows() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    # DL3013: versions are pinned in requirements/. DL3059: torch is a layer of its own, which seldom changes.
    ran = subprocess.run(
        [hadolint, "--ignore=DL3013", "--ignore=DL3059", DEPLOY / "docker" / "Dockerfile"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_image_copies_all_packages_of_the_wheel() -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    wheel = re.search(r"^packages = \[(.*)\]", project, re.MULTILINE)
    assert wheel
    packages = {*re.findall(r'"(\w+)"', wheel[1]), "clients/python", "requirements"}
    assert set(re.findall(r"^COPY ([\w/]+) [\w/]+$", text, re.MULTILINE)) == packages
    kept = (DEPLOY / "docker" / "Dockerfile.dockerignore").read_text()
    assert set(re.findall(r"^!([\w/]+)$", kept, re.MULTILINE)) == packages | {"LICENSE"}
    assert "USER 10001" in text


def test_compose_runs_every_program_with_time_to_end_its_work() -> None:
    (compose,) = documents(DEPLOY / "docker" / "compose.yaml")
    services = compose["services"]
    for name, words in EXPECTED.items():
        assert without_bind(services[name]["command"]) == words
        assert not services[name].get("privileged")
    for queue in QUEUES:
        assert int(services[queue]["stop_grace_period"].rstrip("s")) > DRAIN
    assert services["migrate"]["command"] == ["pressroom", "migrate"]
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "docker" / "example.env").read_text(), re.MULTILINE))
    wanted = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "docker" / "compose.yaml").read_text()))
    assert wanted <= given


@pytest.mark.parametrize("name", ["pressroom", "pressroom-api", "pressroom-pool@", "pressroom-sweep"])
def test_systemd_units_run_our_programs_and_give_them_time(name: str) -> None:
    text = (DEPLOY / "systemd" / f"{name}.service").read_text()
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    words = shlex.split(line.replace("/opt/pressroom/bin/", ""))
    limit = int(re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)[0])
    if name == "pressroom":
        assert words == ["pressroom", "up"]
    elif name == "pressroom-pool@":
        shell = words[2].replace("%i", "search_check-2").replace("%%", "%").replace("$$", "$").replace("exec ", "echo ")
        said = subprocess.run([*words[:2], shell], capture_output=True, text=True, check=True).stdout.split()
        assert said == EXPECTED["search_check"]
        assert limit > DRAIN
    else:
        assert without_bind(words) == EXPECTED[name.removeprefix("pressroom-")]
    assert "KillMode=mixed" in text


def test_systemd_takes_the_units_and_finds_them_hard_to_misuse(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not here")
    for file in (DEPLOY / "systemd").glob("pressroom*"):
        name = file.name.replace("@.", "@vision-1.")
        (tmp_path / name).write_text(file.read_text().replace("/opt/pressroom/bin/", "/bin/true "))
    units = sorted(tmp_path.iterdir())

    verified = subprocess.run([analyze, "verify", *units], capture_output=True, text=True, check=False)
    assert [line for line in verified.stderr.splitlines() if str(tmp_path) in line] == []
    for unit in units:
        if unit.suffix == ".service":
            command = [analyze, "security", "--offline=yes", "--threshold=30", unit]  # in tenths
            assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_target_of_systemd_starts_every_program() -> None:
    target = (DEPLOY / "systemd" / "pressroom.target").read_text()
    wanted = set(re.findall(r"pressroom-[\w@-]+\.service", target))
    assert wanted == {"pressroom-api.service", "pressroom-sweep.service"} | {
        f"pressroom-pool@{queue}-1.service" for queue in QUEUES
    }


def test_images_of_others_are_pinned_by_version() -> None:
    images = re.findall(r"image: ((?:postgres|valkey|minio)\S+)", (DEPLOY / "docker" / "compose.yaml").read_text())
    assert len(images) == 4
    assert [image for image in images if not re.search(r":\S*\d+\.\d+|RELEASE\.\d", image)] == []


@pytest.mark.parametrize("manifest", manifests(), ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_manifests_are_what_kubernetes_takes(manifest: dict[str, Any]) -> None:
    if manifest["apiVersion"].startswith("keda.sh/"):
        (trigger,) = manifest["spec"]["triggers"]
        promql_parser.parse(trigger["metadata"]["query"])
        return
    for version in ("1.30", kubernetes_validate.latest_version()):
        kubernetes_validate.validate(manifest, version, strict=True)


def test_kubernetes_runs_every_program_and_scales_every_pool() -> None:
    found = manifests()
    pods = {
        one["metadata"]["name"].removeprefix("pressroom-"): one["spec"]["template"]["spec"]
        for one in found
        if one["kind"] == "Deployment"
    }
    for name, words in EXPECTED.items():
        pod = pods[name.replace("_", "-")]
        assert without_bind(pod["containers"][0]["command"]) == words
        assert pod["securityContext"]["runAsNonRoot"]
        if name in QUEUES:
            assert pod["terminationGracePeriodSeconds"] > DRAIN
    assert pods.keys() == {name.replace("_", "-") for name in EXPECTED}
    scaled = [one["spec"] for one in found if one["kind"] == "ScaledObject"]
    assert {one["scaleTargetRef"]["name"] for one in scaled} == {
        f"pressroom-{queue.replace('_', '-')}" for queue in QUEUES
    }
    for folder in ("base", "keda"):
        (kustomization,) = documents(KUBERNETES / folder / "kustomization.yaml")
        for resource in kustomization["resources"]:
            assert (KUBERNETES / folder / resource).exists()


def expressions() -> list[str]:
    (rules,) = documents(DEPLOY / "monitoring" / "alerts.yaml")
    board = json.loads((DEPLOY / "monitoring" / "grafana-dashboard.json").read_text())
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    panels = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    scaled = [one["spec"]["triggers"][0]["metadata"]["query"] for one in manifests() if one["kind"] == "ScaledObject"]
    return [one.replace("$__rate_interval", "5m") for one in (*alerts, *panels, *scaled)]


@pytest.mark.parametrize("expression", expressions())
def test_expressions_are_promql_over_metrics_that_there_are(expression: str) -> None:
    promql_parser.parse(expression)
    load = Load(queues=[QueueLoad("synthesis", 0, 0, 0, 0.0)], open_jobs=0)
    gauges = set(re.findall(r"^# TYPE (\w+)", render([], load).decode(), re.MULTILINE))
    known = {*HELP, *gauges, *(f"{name}_bucket" for name in HELP)}
    assert set(re.findall(r"\bpressroom_\w+", expression)) <= known


def test_panels_lie_side_by_side() -> None:
    board = json.loads((DEPLOY / "monitoring" / "grafana-dashboard.json").read_text())
    places = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert max(x for x, _ in places) < 24
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_setting_that_is_named_is_one() -> None:
    for file in (path for path in DEPLOY.rglob("*") if path.is_file()):
        for name in re.findall(r"\b(PRESSROOM_[A-Z0-9_]+[A-Z0-9])\b(?=[=:}]|$)", file.read_text()):
            check_environment(Settings, {name: "x"})
