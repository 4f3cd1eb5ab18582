"""Settings as they are read from the environment and from a file, and what is said of a misspelt one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.errors import InvalidSetting
from pipeline.settings import Settings
from scripts.system.programs import ROOT


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESSROOM_TRANSCRIPTION__WHISPER__MODEL", "PRESSROOM_SEARCH__SLOTS", "REDIS_URL"):
        monkeypatch.setenv(name, "")

    settings = Settings()

    assert settings.transcription.whisper.model is None
    assert (settings.search.slots, settings.redis_url) == (8, None)


def test_limits_and_times_are_those_that_docs_api_promises() -> None:
    settings = Settings()
    tiers = (settings.limits.free, settings.limits.pro, settings.limits.enterprise)
    kept = settings.retention

    assert [(tier.per_minute, tier.per_day) for tier in tiers] == [(10, 100), (120, 10_000), (600, 0)]
    assert (settings.limits.open_items, settings.limits.idempotency_hours) == (100_000, 24)
    assert (settings.work.deadline_hours, settings.work.index_deadline_days) == (1, 7)
    assert (kept.result_hours, kept.summary_days, kept.picture_days, kept.index_days) == (24, 90, 7, 30)


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("PRESSROOM_API__PROT", "PRESSROOM_API__PORT"),
        ("PRESSROOM_API_PORT", "PRESSROOM_API__PORT"),
        ("PRESSROOM_SYNTHESIS_ONLINE", "PRESSROOM_SYNTHESIS__ONLINE"),
        ("PRESSROOM_SEARCH__SERPER__APIKEY", "PRESSROOM_SEARCH__SERPER__API_KEY"),
    ],
)
def test_a_misspelt_variable_is_an_error_with_the_nearest_name(
    misspelt: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(misspelt, "1")
    with pytest.raises(InvalidSetting, match=f"{misspelt} is not a setting. Did you mean {meant}\\?"):
        Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PRESSROOM_SERVICE_HOST", "10.0.0.7"),
        ("PRESSROOM_API_SERVICE_PORT_HTTP", "80"),
        ("PRESSROOM_API_PORT", "tcp://10.0.0.7:80"),
        ("PRESSROOM_API_PORT_80_TCP_ADDR", "10.0.0.7"),
        ("PRESSROOM_API_KEY", "pr_live_"),
        ("pressroom_api__port", "9000"),
    ],
)
def test_what_others_set_for_a_service_of_this_name_is_no_error(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert Settings().api.port == (9000 if value == "9000" else 8000)


def test_a_file_has_settings_and_the_environment_goes_before_it(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (empty_folder / "pressroom.toml").write_text(
        'redis_url = "redis://file/0"\ndatabase_url = "postgresql://file/x"\n'
        "[api]\nport = 9100\nprocesses = 3\n[limits.free]\nper_day = 5\n"
        '[fetch]\nallow_networks = ["10.0.0.0/8", "192.168.7.0/24"]\n'
    )
    monkeypatch.setenv("PRESSROOM_API__PORT", "9200")
    monkeypatch.setenv("REDIS_URL", "redis://environment/0")

    settings = Settings()

    assert (settings.api.port, settings.api.processes, settings.api.host) == (9200, 3, "127.0.0.1")
    assert settings.fetch.allow_networks == "10.0.0.0/8,192.168.7.0/24"
    assert (settings.redis_url, settings.database_url) == ("redis://environment/0", "postgresql://file/x")
    assert (settings.limits.free.per_day, settings.limits.free.per_minute) == (5, 10)


def test_a_file_elsewhere_is_read_when_it_is_named_and_missed_when_it_is_gone(
    empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = empty_folder / "elsewhere.toml"
    monkeypatch.setenv("PRESSROOM_CONFIG", str(file))
    with pytest.raises(InvalidSetting, match=r"elsewhere\.toml, which is not a file"):
        Settings()
    file.write_text("log_level = 'DEBUG'")
    assert Settings().log_level == "DEBUG"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[api]\nprot = 1", "api.prot is not a setting. Did you mean api.port?"),
        ("[apy]\nport = 1", "apy is not a setting. Did you mean api?"),
        ("[api\n", "can't be read"),
    ],
)
def test_a_file_with_a_mistake_is_an_error_that_names_it(empty_folder: Path, text: str, said: str) -> None:
    (empty_folder / "pressroom.toml").write_text(text)
    with pytest.raises(InvalidSetting) as refused:
        Settings()
    assert said in refused.value.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_refused(empty_folder: Path) -> None:
    file = empty_folder / "pressroom.toml"
    file.write_text("ffmpeg = '/home/mallory/ffmpeg'")
    os.chown(file, 12_345, -1)
    with pytest.raises(InvalidSetting, match=r"belongs to user 12345.*chown 0 pressroom\.toml"):
        Settings()


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_a_file_that_others_may_write_is_refused(empty_folder: Path, mode: int) -> None:
    file = empty_folder / "pressroom.toml"
    file.write_text("log_level = 'DEBUG'")
    file.chmod(mode)
    with pytest.raises(InvalidSetting, match=r"chmod go-w pressroom\.toml"):
        Settings()
    file.chmod(0o644)
    assert Settings().log_level == "DEBUG"


@pytest.mark.parametrize("name", ["PRESSROOM_API__TRUSTED_PROXIES", "PRESSROOM_FETCH__ALLOW_NETWORKS"])
def test_networks_are_checked_when_they_are_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "10.0.0.0/8, 192.168.1.7/16")
    Settings()
    monkeypatch.setenv(name, "10.0.0.0/8,banana")
    with pytest.raises(ValidationError, match="banana"):
        Settings()


def test_another_package_s_engine_has_settings_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "pressroom_drum-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-drum\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[pressroom.settings]\nsynthesis.drum = pressroom_drum:DrumSettings\n")
    (tmp_path / "pressroom_drum.py").write_text(
        "from pydantic import BaseModel\n\n\nclass DrumSettings(BaseModel):\n    beats: int = 4\n"
    )
    code = "from pipeline.settings import Settings; print(Settings().synthesis.drum.beats)"

    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PRESSROOM_SYNTHESIS__DRUM__BEATS": "7", "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.strip() == "7"
