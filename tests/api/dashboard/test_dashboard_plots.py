"""Plots of the dashboard: shapes that fit the numbers, and the numbers as words and as a table."""

from api.dashboard.plots import HEIGHT, bar_plot, line_plot


def test_bars_of_several_series_lie_on_top_of_each_other() -> None:
    plot = bar_plot("Credits", ["1 May", "2 May"], {"tts": [10, 0], "transcribe": [30, 20]}, unit="credits")
    speech, transcripts = plot.series
    assert [bar.height for bar in speech.bars] == [HEIGHT / 4]
    assert [(bar.y, bar.height) for bar in transcripts.bars] == [
        (0, HEIGHT * 3 / 4),
        (HEIGHT / 2, HEIGHT / 2),
    ]
    assert plot.ticks == ["40", "20", "0"]
    assert plot.rows == [["1 May", "10", "30"], ["2 May", "0", "20"]]
    assert "transcribe: highest 30, last 20" in plot.summary


def test_a_line_has_a_gap_where_a_value_is_missing() -> None:
    plot = line_plot("Depth", ["a", "b", "c"], {"synthesis": [1, None, 2]})
    assert plot.series[0].path == "M0 150L0 150M1000 0L1000 0"
    assert plot.rows[1] == ["b", "–"]


def test_the_axis_ends_at_a_round_number_above_all_values() -> None:
    tops = {87: "100", 0.3: "0.3", 1_234: "1,500", 0: "1", 2.3: "2.5"}
    for value, top in tops.items():
        assert line_plot("Depth", ["a"], {"synthesis": [value]}).ticks[0] == top


def test_a_long_axis_names_some_places_first_and_last_among_them() -> None:
    labels = [str(day) for day in range(30)]
    shown = bar_plot("Credits", labels, {"all": [1.0] * 30}).labels
    assert (shown[0], shown[-1]) == ("0", "29")
    assert len(shown) <= 5


def test_no_values_are_an_empty_plot() -> None:
    assert bar_plot("Credits", [], {}).is_empty
    assert bar_plot("Credits", ["1 May"], {"all": [0]}).is_empty
    assert not line_plot("Depth", ["12:00"], {"synthesis": [0]}).is_empty
    assert line_plot("Credits", [], {"all": []}).summary == "No values yet."
