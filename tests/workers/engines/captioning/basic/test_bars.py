"""What the bars of a chart say: by the numbers at them, or by the axis, or nothing at all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw

from workers.engines.captioning.basic.bars import level_readings_of, readings_of
from workers.engines.captioning.basic.charts import Axis, axis_of, level_axis_of, stands_at_colours, upended, value_of
from workers.engines.captioning.basic.labelled_bars import have_bars
from workers.engines.captioning.basic.numbered_bars import numbered_level, numbered_upright
from workers.engines.captioning.basic.ocr import Line

WIDTH, HEIGHT = 800, 500
#: The axis's lowest and highest marks, in pixels from the top.
LOW, HIGH = 420, 60


def text(words: str, x: float, y: float) -> Line:
    """Return a line of text around a point, in pixels."""
    return Line(words, 0.99, (x - 20) / WIDTH, (y - 9) / HEIGHT, (x + 20) / WIDTH, (y + 9) / HEIGHT)


def marks(*numbers: str) -> list[Line]:
    """Return an axis's numbers, the lowest first."""
    step = (LOW - HIGH) / (len(numbers) - 1)
    return [text(number, 50, LOW - place * step) for place, number in enumerate(numbers)]


def chart(heights: Mapping[str, float | Sequence[float]]) -> tuple[Image.Image, list[Line]]:
    """Return a chart of bars, each so high as a share of the axis, and its labels; several heights: bars that touch."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    labels = []
    for place, (label, height) in enumerate(heights.items()):
        x = 150 + place * 150
        each = [height] if isinstance(height, int | float) else height
        for part, share in enumerate(each):
            left = x + part * 80 / len(each)
            draw.rectangle((left, LOW - share * (LOW - HIGH), left + 80 / len(each), LOW), fill=(25, 118, 210))
        labels.append(text(label, x + 40, LOW + 25))
    draw.line((100, LOW, WIDTH - 20, LOW), fill="black", width=2)
    return image, labels


def without_top(line: Line) -> Line:
    """Return where a text stands once all that is 10 pixels above the highest mark is cut off."""
    cut, left = HIGH - 10, HEIGHT - HIGH + 10
    return replace(line, top=(line.top * HEIGHT - cut) / left, bottom=(line.bottom * HEIGHT - cut) / left)


def read(image: Image.Image, numbers: Sequence[Line], labels: Sequence[Line]) -> list[tuple[str, str]] | None:
    axis = axis_of(numbers)
    assert isinstance(axis, Axis)
    found = readings_of(image, axis, [*numbers, *labels])
    return None if found is None else list(found.pairs)


def test_bars_are_read_off_the_axis_to_a_hundredth_of_it() -> None:
    image, labels = chart({"North": 0.35, "East": 0.62, "South": 0.9, "West": 1.0})

    assert read(image, marks("0", "50", "100"), labels) == [
        ("North", "35"), ("East", "62"), ("South", "90"), ("West", "100"),
    ]  # fmt: skip
    assert read(image, marks("0", "500", "1000"), labels)[:2] == [("North", "350"), ("East", "620")]
    assert read(image, marks("0", "1,000", "2,000"), labels)[1] == ("East", "1240")
    assert read(image, marks("100%", "150%", "200%"), labels)[0] == ("North", "135%")
    beneath = [text("Sales by region", 400, LOW + 60), text("Source: example.com", 200, LOW + 75)]
    assert read(image, marks("0", "50", "100"), [*labels, *beneath])[3] == ("West", "100")


def test_bars_that_end_above_the_highest_mark_are_read_beyond_it() -> None:
    image, labels = chart({"North": 0.5, "East": 1.1})
    cut = image.crop((0, HIGH - 10, WIDTH, HEIGHT))

    assert read(image, marks("0", "50", "100"), labels) == [("North", "50"), ("East", "110")]
    # Where its top is not in the picture, nobody knows how high it is.
    beheaded = [without_top(line) for line in (*marks("0", "50", "100"), *labels)]
    assert read(cut, beheaded[:3], beheaded[3:]) is None


def test_millions_are_written_in_digits() -> None:
    image, labels = chart({"North": 0.5, "East": 0.9})

    assert read(image, marks("0", "1,000,000", "2,000,000"), labels) == [("North", "1000000"), ("East", "1800000")]


def test_numbers_at_the_bars_are_believed_before_their_height() -> None:
    image, labels = chart({"2023": 0.35, "2024": 0.62})
    numbers = [text("351", 190, LOW - 0.4 * (LOW - HIGH)), text("619", 340, LOW - 0.67 * (LOW - HIGH))]

    assert read(image, marks("0", "500", "1000"), [*labels, *numbers]) == [("2023", "351"), ("2024", "619")]


@pytest.mark.parametrize(
    ("heights", "numbers"),
    [
        ({"A1": 0.5, "B1": (0.3, 0.8)}, ("0", "50", "100")),  # which of the two is meant?
        ({"A1": 0.5, "B1": 0.8, "C1": 0.0}, ("0", "50", "100")),  # a label without a bar
        ({"A1": 0.5, "B1": 0.8}, ("0", "1", "2")),  # half a one
        ({"A1": 0.5, "B1": 0.8}, ("0", "50k", "100k")),
        ({"A1": 0.5}, ("0", "50", "100")),
    ],
)
def test_what_is_not_clear_is_not_told(heights: Mapping[str, float | Sequence[float]], numbers: Sequence[str]) -> None:
    image, labels = chart(heights)

    assert read(image, marks(*numbers), labels) is None


def test_a_bar_without_a_label_silences_them_all() -> None:
    image, labels = chart({"A1": 0.5, "B1": 0.8, "C1": 0.3})

    assert read(image, marks("0", "50", "100"), labels[:2]) is None


@pytest.mark.parametrize(
    ("mark", "value"), [("30 °C", 30), ("-5 °C", -5), ("86 °F", 86), ("45°", 45), ("1,000", 1_000)]
)
def test_marks_with_units_are_numbers(mark: str, value: float) -> None:
    assert value_of(mark) == value


def laid(image: Image.Image, lines: Sequence[Line]) -> tuple[Image.Image, list[Line]]:
    """Return a chart with its bars laid down, the first one at the bottom."""
    return image.transpose(Image.Transpose.TRANSVERSE), [upended(line) for line in lines]


def test_level_bars_are_read_from_top_to_bottom() -> None:
    image, labels = chart({"North": 0.35, "East": 0.62, "South": 0.9, "West": 1.0})
    image, lines = laid(image, [*marks("0", "20", "40", "60", "80", "100"), *labels])
    axis = level_axis_of(lines)
    assert axis is not None

    found = level_readings_of(image, axis, lines)

    assert found is not None
    assert found.pairs == [("West", "100"), ("South", "90"), ("East", "62"), ("North", "35")]


@pytest.mark.parametrize("is_level", [False, True])
def test_bars_without_an_axis_are_proved_by_their_numbers(is_level: bool) -> None:
    heights = {"Rent": 0.9, "Food": 0.6, "Travel": 0.3}
    image, labels = chart(heights)
    tops = [LOW - height * (LOW - HIGH) - 14 for height in heights.values()]

    def read_with(*numbers: str) -> Sequence[tuple[str, str]] | None:
        lines = [*labels, *[text(number, 190 + 150 * place, tops[place]) for place, number in enumerate(numbers)]]
        found = numbered_level(*laid(image, lines)) if is_level else numbered_upright(image, lines)
        return None if found is None else list(found.pairs)[:: -1 if is_level else 1]

    assert read_with("45 %", "30 %", "15 %") == [("Rent", "45 %"), ("Food", "30 %"), ("Travel", "15 %")]
    assert read_with("45 %", "25 %", "15 %") is None  # no bar is as long as that
    assert read_with("45 %", "30 %") is None


def test_large_numbers_have_the_power_of_ten_over_their_axis_in_them() -> None:
    axis = axis_of([*marks("0.00", "0.50", "1.00", "1.50", "2.00"), text("1e6", 60, HIGH - 30)])

    assert axis is not None
    assert (axis.lowest, axis.highest) == ("0", "2000000")
    far = axis_of([*marks("0.00", "0.50", "1.00", "1.50", "2.00"), text("1e99", 60, HIGH - 30)])
    assert far is not None
    assert far.highest == "2.00"


def test_numbers_at_a_bar_of_colours_are_no_value_axis() -> None:
    axis = axis_of(marks("0.2", "0.4", "0.6", "0.8"))
    assert axis is not None
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")

    assert not stands_at_colours(image, axis)
    for y in range(HIGH, LOW):
        ImageDraw.Draw(image).line((5, y, 22, y), fill=(y // 2, 80, 255 - y // 2))
    assert stands_at_colours(image, axis)


def test_an_upright_name_of_an_axis_is_no_bar_of_colours() -> None:
    axis = axis_of(marks("0", "20", "40", "60"))
    assert axis is not None
    name = Image.new("RGB", (LOW - HIGH, 22), "white")
    ImageDraw.Draw(name).text((4, 0), "Revenue in millions of euros", font_size=20, fill="black")
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    image.paste(name.rotate(90, expand=True), (4, HIGH))

    assert not stands_at_colours(image, axis)


@pytest.mark.parametrize(
    ("heights", "is_chart"),
    [
        ({"Jan": 0.4, "Feb": 0.7, "Mar": 0.5}, True),
        ({"Jan": 0.4, "Feb": 0.7}, False),
        ({"Shirt": 0.6, "Shoes": 0.6, "Hat": 0.6}, False),  # pictures over their names
        ({"Jan": 0.4, "Feb": 0.0, "Mar": 0.5}, False),
    ],
)
def test_bars_over_labels_prove_a_chart_whose_axis_can_not_be_read(
    heights: Mapping[str, float], is_chart: bool
) -> None:
    assert have_bars(*chart(heights)) is is_chart


def test_a_skyline_over_labels_is_no_chart() -> None:
    image, labels = chart({"Jan": 0.4, "Feb": 0.7, "Mar": 0.5})
    ImageDraw.Draw(image).rectangle((100, LOW - 100, WIDTH - 20, LOW), fill=(25, 118, 210))

    assert not have_bars(image, labels)
