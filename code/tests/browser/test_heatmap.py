"""The heat map in a browser: what it shows, says, and does, mounted as in the built book."""

import numpy as np
import pytest
import torch

from attnbook import plots
from attnbook.widgets import AttentionHeatmap

TOKENS = "the black cat sat on the mat <pad>".split()
ALL = ("lengths", "causal", "temperature", "scale", "batch")


def explorer(**options):
    scores = 2 * torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))
    settings = {"query_labels": TOKENS, "key_labels": TOKENS, "lengths": [7, 4], "scale": 4}
    return AttentionHeatmap(scores, controls=ALL, **(settings | options))


def live(page) -> str:
    return page.locator(".ah-hidden [aria-live]").inner_text()


def table(page) -> list[list[str]]:
    return page.evaluate(
        """() => [...document.querySelectorAll(".ah-hidden tr")].slice(1).map(
          (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))"""
    )


def wait_for_table(page, before):
    page.wait_for_function(
        """(before) => JSON.stringify([...document.querySelectorAll(".ah-hidden tr")].slice(1).map(
          (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)))
          !== JSON.stringify(before)""",
        arg=before,
        timeout=3000,
    )
    return table(page)


def assert_shows(page, widget):
    """The hidden table holds the widget's Python weights, to its three digits."""
    wanted, allowed = widget.weights(), widget.allowed()
    for i, row in enumerate(table(page)):
        for j, text in enumerate(row):
            if not allowed[i, j]:
                assert text == "masked"
            elif text.startswith("<"):
                assert 0 < wanted[i, j] < 0.0005
            else:
                assert float(text) == pytest.approx(wanted[i, j], abs=0.00051)


def test_it_shows_what_python_computes(show):
    scores = torch.randn(5, 6)
    mask = torch.rand(5, 6) > 0.3
    mask[2] = False
    scores[~mask] = float("nan")
    widget = AttentionHeatmap(scores, mask=mask, temperature=0.5)
    shown = show(widget)
    shown.page.wait_for_selector(".ah-hidden tr", state="attached")
    assert_shows(shown.page, widget)
    assert not shown.faults


def test_controls_do_what_python_does(show):
    widget = explorer()
    page = show(widget).page
    page.wait_for_selector(".ah-hidden tr", state="attached")
    now = table(page)
    page.get_by_label("Valid length").press("ArrowLeft")
    widget.lengths = [6, 4]
    now = wait_for_table(page, now)
    assert_shows(page, widget)
    page.get_by_label("Causal").press("Space")
    widget.causal = True
    now = wait_for_table(page, now)
    assert_shows(page, widget)
    page.get_by_label("Divide by √4").press("Space")
    widget.scaled = False
    now = wait_for_table(page, now)
    assert_shows(page, widget)
    page.get_by_label("Temperature").press("End")
    widget.temperature = 10.0
    now = wait_for_table(page, now)
    assert_shows(page, widget)
    page.get_by_label("Sequence").select_option("1")
    widget.batch = 1
    now = wait_for_table(page, now)
    assert_shows(page, widget)
    assert page.get_by_label("Valid length").input_value() == "4"
    page.get_by_role("button", name="Reset").click()
    wait_for_table(page, now)
    assert_shows(page, explorer())


def test_only_the_chosen_controls_are_there(show):
    page = show(AttentionHeatmap(torch.zeros(2, 2), controls=("causal",))).page
    assert page.locator("input").count() == 1
    page = show(AttentionHeatmap(torch.zeros(2, 2))).page
    assert page.locator("input, select, button").count() == 0


def test_every_input_has_a_label(show):
    page = show(explorer()).page
    names = page.evaluate(
        """() => [...document.querySelectorAll("input, select")].map(
          (input) => input.labels[0]?.textContent.trim() ?? "")"""
    )
    assert len(names) == 5 and all(names)


def test_arrow_keys_move_and_are_announced(show):
    page = show(explorer()).page
    canvas = page.locator("canvas")
    canvas.focus()
    assert live(page).startswith("query “the” → key “the”")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        canvas.press(key)
    assert live(page).startswith("query “cat” → key “black”: score ")
    canvas.press("Home")
    canvas.press("ArrowLeft")  # stays at the edge
    assert live(page).startswith("query “cat” → key “the”")
    canvas.press("End")
    assert live(page) == (
        "query “cat” → key “<pad>”: masked (beyond the valid length 7) → weight 0"
    )


def test_pointing_shows_but_does_not_announce(show):
    page = show(explorer()).page
    box = page.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 100, box["y"] + box["height"] - 20)
    assert page.locator(".ah-readout").inner_text().startswith("query “<pad>” → key ")
    assert live(page) == ""


def test_the_line_says_score_weight_and_contribution(show):
    widget = AttentionHeatmap([[0.0, np.log(3.0)]], values=[[2.0, 0.0], [4.0, 8.0]])
    page = show(widget).page
    page.locator("canvas").focus()
    page.locator("canvas").press("ArrowRight")
    assert live(page) == (
        "query “0” → key “1”: score 1.099 → weight 0.750 "
        "→ contribution 0.750 × (4.00, 8.00) = (3.00, 6.00)"
    )


def pixels(page, i, j) -> set[tuple[int, ...]]:
    """Colours inside cell (i, j) of a map of 2 by 3 cells of 52 pixels, without its number."""
    return {
        tuple(colour)
        for colour in page.evaluate(
            """([i, j]) => {
              const canvas = document.querySelector("canvas");
              const left = canvas.width - 2 - 3 * 52, top = canvas.height - 2 - 2 * 52;
              const part = canvas.getContext("2d").getImageData(
                left + 52 * j + 3, top + 52 * i + 3, 46, 12).data;
              return Array.from({length: part.length / 4}, (_, n) => [...part.slice(4*n, 4*n+4)]);
            }""",
            [i, j],
        )
    }


def small_map():
    scores = [[0.0, -12.0, -np.inf], [0.0, 0.0, 0.0]]
    return AttentionHeatmap(scores, mask=np.array([[True, True, True], [True, True, False]]))


def rgb(colour: str) -> tuple[int, ...]:
    return (*(int(colour[at : at + 2], 16) for at in (1, 3, 5)), 255)


def test_masked_is_hatched_zero_is_blank_small_is_light(show):
    page = show(small_map()).page
    assert pixels(page, 0, 0) == {rgb(plots.RAMP[-1])}
    assert pixels(page, 0, 1) == {rgb(plots.RAMP[0])}  # small
    assert pixels(page, 0, 2) == {(0, 0, 0, 0)}  # zero: nothing is drawn
    assert len(pixels(page, 1, 2)) > 5  # masked: lines on a ground


@pytest.mark.parametrize("mark", ["data-theme", "jupyter", "system"])
def test_it_follows_the_dark_theme(show, mark):
    page = show(small_map()).page
    light = pixels(page, 0, 1)
    if mark == "data-theme":
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
    elif mark == "jupyter":
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    else:
        page.emulate_media(color_scheme="dark")
    page.wait_for_selector(".attn-heatmap[data-theme=dark]")
    dark = pixels(page, 0, 1)
    assert len(dark) == 1 and sum(dark.pop()) < sum(light.pop())


def test_it_fits_a_phone(show):
    words = [f"a rather long token {n}" for n in range(64)]
    large = AttentionHeatmap(torch.randn(64, 64), query_labels=words, key_labels=words)
    for widget in (large, explorer()):
        page = show(widget, width=360).page
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        box = page.locator("canvas").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        assert box["width"] > 200
        assert box["width"] == page.evaluate("document.querySelector('canvas').width"), "sharp"


def test_a_map_too_wide_for_a_phone_scrolls_in_its_own_frame(show):
    page = show(AttentionHeatmap(torch.randn(4, 400)), width=360).page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator(".ah-map").evaluate("(map) => map.scrollWidth > map.clientWidth")


def test_it_fits_the_height_of_its_box(show):
    tall = AttentionHeatmap(torch.randn(30, 8))
    style = ".attn-widget { --attn-wide: 420; --attn-narrow: 420; }"
    page = show(tall, style=style).page
    assert page.locator(".attn-widget").bounding_box()["height"] == 420


def test_empty_maps_do_not_fail(show):
    for shape in ((0, 3), (3, 0)):
        shown = show(AttentionHeatmap(torch.zeros(shape), controls=("causal",)))
        shown.page.locator("canvas").focus()
        shown.page.locator("canvas").press("ArrowRight")
        assert not shown.faults


def test_labels_are_text_not_markup(show):
    word = '<img src="nowhere.png">'
    shown = show(AttentionHeatmap([[0.0]], query_labels=[word], key_labels=[word], title=word))
    shown.page.locator("canvas").focus()
    assert shown.page.locator(".attn-heatmap img").count() == 0
    assert word in live(shown.page) and not shown.faults


def test_without_its_code_the_picture_stays(show):
    widget = small_map()
    state = {"state": {"_anywidget_id": "nobody.Knows"}}
    shown = show(widget, states={widget.model_id: state})
    assert shown.page.locator(".attn-widget[data-widget=failed] > img").count() == 1
    assert any("nobody.Knows" in fault for fault in shown.faults)


def test_two_views_of_one_model_move_together(show):
    widget = AttentionHeatmap(torch.zeros(2, 2), controls=("causal",))
    page = show(widget, widget).page
    page.get_by_label("Causal").first.press("Space")
    assert page.get_by_label("Causal").nth(1).is_checked()
