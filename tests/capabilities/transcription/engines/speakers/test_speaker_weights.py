"""Weights that torch wrote, read without torch and without running anything that a file names."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from capabilities.transcription.engines.speakers.encoder import BANDS, FILE, HIDDEN, LAYERS, WINDOW, VoiceEncoder
from pipeline.errors import NotReady


def write(folder: Path, content: object) -> None:
    import torch  # takes seconds, so not while tests are collected

    torch.save(content, folder / FILE, _use_new_zipfile_serialization=False)


def test_the_network_gives_what_torch_gives(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    lstm, linear = torch.nn.LSTM(BANDS, HIDDEN, LAYERS, batch_first=True), torch.nn.Linear(HIDDEN, HIDDEN)
    named = [("lstm", lstm), ("linear", linear)]
    state = {f"{name}.{key}": value for name, part in named for key, value in part.state_dict().items()}
    write(tmp_path, {"step": 7, "model_state": state})
    windows = torch.rand(3, WINDOW, BANDS)

    with torch.no_grad():
        vectors = torch.relu(linear(lstm(windows)[1][0][-1]))
        expected = vectors / vectors.norm(dim=1, keepdim=True)

    found = VoiceEncoder(tmp_path).encode(windows.numpy())
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)


class Command:
    """Stands for the code that a hostile file would run."""

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize("content", [{"model_state": Command()}, {"other": {}}])
def test_a_file_that_holds_anything_else_is_refused_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, content)

    with pytest.raises(NotReady, match=r"pretrained\.bin can't be read"):
        VoiceEncoder(tmp_path)

    assert not (tmp_path / "made-by-a-pickle").exists()


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    import torch

    write(tmp_path, {"model_state": {"lstm.weight_ih_l0": torch.rand(4, 4)}})
    whole = (tmp_path / FILE).read_bytes()
    for size in (0, 10, len(whole) - 3):
        (tmp_path / FILE).write_bytes(whole[:size])
        with pytest.raises(NotReady):
            VoiceEncoder(tmp_path)
    (tmp_path / FILE).write_bytes(pickle.dumps({"model_state": {}}))
    with pytest.raises(NotReady):
        VoiceEncoder(tmp_path)
