"""The catalogue of models: what its file may say."""

import runpy
from pathlib import Path

import pytest

from workers.models.catalogue import ModelUnknown, find_model, is_safe, models_of, read_catalogue

ROOT = Path(__file__).parents[3]
ENTRY = """
[[model]]
name = "{name}"
family = "synthesis"
engine = "piper"
gives = "a voice"
languages = ["en"]
licence = "MIT"
origin = "somebody"
{rest}
"""


def write(folder: Path, *entries: str) -> Path:
    """Write a catalogue."""
    path = folder / "catalogue.toml"
    path.write_text("".join(entries))
    return path


def test_every_model_that_is_shipped_can_be_got_somewhere() -> None:
    for model in read_catalogue().values():
        assert model.hub or model.is_in_wheels, f"{model.name} has no source"
        assert model.size_bytes, f"{model.name} has no size"
        assert model.licence
        assert model.gives


def test_models_keep_the_order_of_the_file(tmp_path: Path) -> None:
    files = 'files = [{ name = "a.onnx", size_bytes = 3 }, { name = "b.json", size_bytes = 4 }]'
    path = write(tmp_path, ENTRY.format(name="second", rest=files), ENTRY.format(name="first", rest=files))

    found = models_of("synthesis", "piper", read_catalogue(path))

    assert [model.name for model in found] == ["second", "first"]
    assert found[0].size_bytes == 7


def test_unknown_name_is_refused_and_says_where_the_names_are() -> None:
    with pytest.raises(ModelUnknown, match="'whisper-hugest'; `pressroom models list`"):
        find_model("whisper-hugest")


@pytest.mark.parametrize("name", ["weights.ckpt", "model.pkl", "run.py", "../a.onnx", "/etc/a.json", "a", "a.pth"])
def test_file_that_may_hold_a_program_or_lies_elsewhere_is_not_accepted(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, ENTRY.format(name="bad", rest=f'files = [{{ name = "{name}" }}]'))

    assert not is_safe(name)
    with pytest.raises(ValueError, match="no safe kind"):
        read_catalogue(path)


@pytest.mark.parametrize("name", ["../up", ".hidden", "a/b", ""])
def test_name_that_is_no_name_of_a_folder_is_not_accepted(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name for a model"):
        read_catalogue(write(tmp_path, ENTRY.format(name=name, rest='files = [{ name = "a.onnx" }]')))


def test_name_may_stand_only_once(tmp_path: Path) -> None:
    entry = ENTRY.format(name="twice", rest='files = [{ name = "a.onnx" }]')

    with pytest.raises(ValueError, match="two models named twice"):
        read_catalogue(write(tmp_path, entry, entry))


def test_page_of_licences_lists_every_model() -> None:
    module = runpy.run_path(str(ROOT / "docs" / "make_licences.py"))
    page = (ROOT / "docs" / "licences.md").read_text()

    assert module["with_table"](page) == page, "run docs/make_licences.py"
