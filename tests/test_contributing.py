"""CONTRIBUTING.md: the capability that it adds works as it stands there."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from given_task import GivenTask

from pipeline.kind import FinishedItem
from pipeline.offers.offers import Offers

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")
FILES = dict(re.findall(r"```python\n# (\S+)\.py\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def example(monkeypatch: Any) -> dict[str, ModuleType]:
    """The files of the example as modules, which are gone after the test."""
    modules = {}
    for path, code in FILES.items():
        name = path.replace("/", ".")
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(code, f"{path}.py", "exec"), module.__dict__)
        modules[name] = module
    return modules


def test_the_kind_of_the_example_goes_from_request_to_answer(example: dict[str, ModuleType]) -> None:
    (kind,) = example["capabilities.words.kinds"].KINDS
    handler = example["capabilities.words.handlers"].CountWordsHandler(SimpleNamespace())
    request = kind.request(**kind.example)

    kind.check(request, Offers())
    (item,) = kind.items(request)
    (done,) = handler.run([GivenTask(item.input)])
    finished = FinishedItem(item.input, done.output, {}, item.price, datetime.now(UTC))

    assert kind.response(SimpleNamespace(), [finished]).media == {"words": 2}


def test_the_test_of_the_example_passes(example: dict[str, ModuleType]) -> None:
    example["tests.capabilities.words.test_words"].test_spaces_separate_words()


def test_the_handler_that_the_example_names_is_there(example: dict[str, ModuleType]) -> None:
    module, _, name = example["capabilities.words.kinds"].CountWords.handler.partition(":")

    assert hasattr(example[module], name)
