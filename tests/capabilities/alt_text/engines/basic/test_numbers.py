"""Numbers: what is one, and when several of them prove a chart."""

import pytest

from capabilities.alt_text.engines.basic.numbers import are_a_chart, value_of
from workers.engines.ocr import TextLine


@pytest.mark.parametrize(
    ("mark", "value"), [("30 °C", 30), ("-5 °C", -5), ("86 °F", 86), ("45°", 45), ("1,000", 1_000), ("0,25", 0.25)]
)
def test_marks_with_units_are_numbers(mark: str, value: float) -> None:
    assert value_of(mark) == value


@pytest.mark.parametrize(
    ("texts", "is_chart"),
    [
        (("Search 45%", "Direct 30%", "Social 25%"), True),
        (("33.3 %", "33.3 %", "33.3 %"), True),
        (("50 % off", "20 % off", "10 % off"), False),
        (("50 %", "50 %"), False),
    ],
)
def test_shares_of_a_whole_prove_a_chart(texts: tuple[str, ...], is_chart: bool) -> None:
    assert (
        are_a_chart([TextLine(text, 1.0, 0.3 * place, 0.5, 0.3 * place + 0.2, 0.6) for place, text in enumerate(texts)])
        is is_chart
    )
