"""What only the heat map does: its colours, pinning, heads, comparison, gold marks, copying."""

import numpy as np
import pytest
import torch
from attnbook_testing.widgets import ENGLISH, FRENCH, compared_heads, explorer, marks, tensor
from page_parts import cell_box, colours, live, pictures, pixels, readout, rgb, said, soon, use
from widget_rows import shows

from attnbook import plots
from attnbook.widgets import AttentionHeatmap

MAP = ".ah-map canvas"


def small(**options):
    labels = {"query_labels": FRENCH, "key_labels": ENGLISH}
    return AttentionHeatmap(tensor(5, 7), **(labels | options))


def compared(**options):
    settings = {"compare": tensor(5, 7, seed=1), "compare_labels": ["old", "new"]}
    return small(**({"controls": ("view",)} | settings | options))


def strip(page, i, j) -> dict:
    """A part of a cell's ground, without its number and its lines."""
    box = cell_box(page, i, j)
    return {"x": box["x"] + 8, "y": box["y"] + 6, "w": box["w"] - 16, "h": 6}


def point_at(page, i, j) -> tuple[float, float]:
    """The middle of a cell, on the page."""
    cell_box(page, i, j)
    box = page.locator(".ah-ring").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# What is drawn and said


def test_it_shows_what_python_computes(show):
    """Also where a row is masked as a whole, and where scores are no numbers."""
    scores = torch.randn(5, 6)
    mask = torch.rand(5, 6) > 0.3
    mask[2] = False
    scores[~mask] = float("nan")
    widget = AttentionHeatmap(scores, mask=mask, temperature=0.5)
    shown = show(widget)
    soon(shown.page, shows, shown.page, widget)
    assert not shown.faults


def test_masks_and_sequences_per_head(show):
    mask = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)) > 0.4
    controls = ("batch", "head")
    widget = AttentionHeatmap(tensor(2, 3, 4, 5), mask=mask, batch=1, head=2, controls=controls)
    page = show(widget).page
    soon(page, shows, page, widget)
    use(page, "combobox", "Sequence", "0")
    use(page, "combobox", "Head", "1")
    widget.batch, widget.head = 0, 1
    soon(page, shows, page, widget)


def test_the_line_says_score_weight_and_contribution(show):
    widget = AttentionHeatmap([[0.0, np.log(3.0)]], values=[[2.0, 0.0], [4.0, 8.0]])
    page = show(widget).page
    page.locator(MAP).focus()
    page.locator(MAP).press("ArrowRight")
    assert live(page) == (
        "query “0” → key “1”: score 1.099 → weight 0.750 "
        "→ contribution 0.750 × (4.00, 8.00) = (3.00, 6.00)"
    )


def test_pointing_shows_but_does_not_announce(show):
    page = show(explorer()).page
    box = page.locator(MAP).bounding_box()
    page.mouse.move(box["x"] + box["width"] - 100, box["y"] + box["height"] - 20)
    assert readout(page).startswith("query “<pad>” → key ")
    assert live(page) == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_masked_is_hatched_zero_is_blank_small_is_faint(show, theme):
    scores = [[0.0, -12.0, -np.inf], [0.0, 0.0, 0.0]]
    mask = np.array([[True, True, True], [True, True, False]])
    page = show(AttentionHeatmap(scores, mask=mask), theme=theme).page
    (large,), (faint,), zero, masked = (
        colours(page, strip(page, *at)) for at in ((0, 0), (0, 1), (0, 2), (1, 2))
    )
    if theme == "light":
        assert (large, faint) == (rgb(plots.RAMP[-1]), rgb(plots.RAMP[0]))
    else:
        assert sum(faint) < sum(large)
    assert zero == {(0, 0, 0, 0)}, "nothing is drawn"
    assert len(masked) > 5, "lines on a ground"


def test_a_map_too_wide_for_a_phone_scrolls_in_its_own_frame(show):
    page = show(AttentionHeatmap(torch.randn(4, 400)), width=360).page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator(".ah-map").evaluate("(map) => map.scrollWidth > map.clientWidth")


def test_it_fits_the_height_of_its_box(show):
    style = ".attn-widget { --attn-wide: 420; --attn-narrow: 420; }"
    page = show(AttentionHeatmap(torch.randn(30, 8)), style=style).page
    assert page.locator(".attn-widget").bounding_box()["height"] == 420


# A bad state, an old one


def test_without_its_code_the_picture_stays(show):
    widget = small()
    state = {"state": {"_anywidget_id": "nobody.Knows"}}
    shown = show(widget, states={widget.model_id: state})
    assert shown.page.locator(".attn-widget[data-widget=failed] > img").count() == 1
    assert any("nobody.Knows" in fault for fault in shown.faults)


def test_a_state_saved_before_the_options_existed_still_works(show):
    """A notebook that was not run again since: its state lacks the new traits."""
    widget = AttentionHeatmap(tensor(5, 7), controls=("causal",))
    new = {"head", "head_labels", "view", "query", "dim_later", "compare_labels", "difference_max"}
    saved = AttentionHeatmap.get_manager_state(widgets=[widget])["state"][widget.model_id]
    saved["buffers"] = [b for b in saved["buffers"] if b["path"][0] in ("_scores",)]
    assert new <= set(saved["state"])
    saved["state"] = {name: value for name, value in saved["state"].items() if name not in new}
    saved["state"]["_esm"] = ""
    shown = show(widget, states={widget.model_id: saved})
    use(shown.page, "checkbox", "Causal")
    use(shown.page, "button", "Reset")
    soon(shown.page, shows, shown.page, widget)
    assert not shown.faults


# Pinning


def test_a_click_pins_a_row_and_reads_it_out(show):
    widget = small()
    page = show(widget).page
    x, y = point_at(page, 1, 3)
    page.mouse.click(x, y)
    order = np.argsort(-widget.weights()[1])
    assert live(page).startswith(f"query “chat” pinned: {ENGLISH[order[0]]} ")
    assert all(f"{word} " in live(page) for word in ENGLISH), "all weights are said"
    row = page.locator(".ah-row").bounding_box()
    assert row["y"] < y < row["y"] + row["height"] and row["width"] > 300
    page.mouse.move(x, y + row["height"])  # the next row: the pinned one stays framed
    assert readout(page).startswith("query “noir” → key “sat”")
    assert page.locator(".ah-row").bounding_box() == row
    page.mouse.move(5, 5)  # away from the map: the line goes back to the pinned row
    assert readout(page).startswith("query “chat” pinned: ")
    page.mouse.click(x, y)
    assert page.locator(".ah-row").is_hidden() and live(page) == "unpinned"


def test_keys_pin_and_unpin(show):
    """Escape is left to the page when nothing is pinned."""
    page = show(small(query=2), style="body { min-height: 4000px }").page
    page.evaluate("document.addEventListener('keydown', (event) => { window.heard = event.key; })")
    assert page.locator(".ah-row").is_visible()
    assert readout(page).startswith("query “noir” pinned: ") and live(page) == ""
    canvas = page.locator(MAP)
    canvas.focus()
    assert live(page).startswith("query “noir” → key “the”"), "the keyboard starts there"
    for key in ("Enter", "Space"):
        canvas.press("Escape")
        assert live(page) == "unpinned" and page.locator(".ah-row").is_hidden()
        assert page.evaluate("window.heard") is None
        canvas.press(key)
        assert " pinned: " in live(page)
        canvas.press("ArrowUp")  # moving on does not unpin
        assert " → key " in live(page) and page.locator(".ah-row").is_visible()
    canvas.press("Escape")
    canvas.press("Escape")
    assert page.evaluate("window.heard") == "Escape" and page.evaluate("scrollY") == 0


def test_steps_pin_one_query_after_another(show):
    """Later queries are faded where it is asked for, and the hits are of those before."""
    widget = small(controls=("step",), dim_later=True, gold=marks())
    page = show(widget).page
    grounds = [strip(page, i, 4) for i in range(5)]
    back, on = (page.get_by_role("button", name=f"{n} query") for n in ("Previous", "Next"))
    for name in ("le", "chat", "noir"):
        on.press("Enter")
        assert live(page).startswith(f"query “{name}” pinned: ")
    back.click()
    assert live(page).startswith("query “chat” pinned: ")
    assert page.locator(".ah-step output").inner_text() == "query 2 of 5"
    assert page.locator(".ah-hits").inner_text().endswith("of 2 queries so far")
    strength = [pixels(page, ground)[..., 3].max() for ground in grounds]
    assert strength[:2] == [255, 255] and max(strength[2:]) < 80
    for _ in range(9):
        on.press("Enter")
    assert page.locator(".ah-step output").inner_text() == "query 5 of 5"
    assert on.get_attribute("aria-disabled") == "true"
    use(page, "button", "Reset")
    assert page.locator(".ah-row").is_hidden()
    assert page.locator(".ah-step output").inner_text() == "5 queries"
    plain = show(small(query=1)).page
    assert pixels(plain, grounds[4])[..., 3].min() == 255, "nothing is faded unless asked"


# Heads


def test_arrow_keys_go_through_the_grid(show):
    page = show(compared_heads()).page
    heads = page.locator(".ah-head")
    assert [head.get_attribute("tabindex") for head in heads.all()].count("0") == 1
    heads.first.focus()
    for key, name in (
        ("ArrowRight", "next"),
        ("ArrowDown", "same"),  # eight heads stand in two lines of four, also on a wide page
        ("End", "noise"),
        ("ArrowRight", "noise"),
        ("ArrowUp", "first"),
        ("Home", "previous"),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.textContent") == name
        assert page.locator(".ah-head[aria-checked=true]").inner_text() == name
    assert page.get_by_role("combobox", name="Head").input_value() == "0", "the list follows"
    said(page, "Head previous.")


def test_the_grid_has_one_scale_and_follows(show):
    """Weight 0.5 has one colour in each head, whatever the largest weight of the head is."""
    weights = torch.tensor([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]]])
    page = show(AttentionHeatmap(weights.log(), heads=True, controls=("grid",))).page
    half, one = page.locator(".ah-head canvas").evaluate_all(
        """(all) => all.map((canvas) => [0.25, 0.75].map((part) => [...canvas.getContext("2d")
          .getImageData(Math.floor(canvas.width * part), 8, 1, 1).data]))"""
    )
    assert half[0] == half[1] and half[0] != one[0]
    assert tuple(one[0]) == rgb(plots.RAMP[-1]) and one[1][3] == 0, "zero is blank"
    page = show(compared_heads()).page
    before = pictures(page)
    assert len(set(before)) == 9
    use(page, "slider", "Temperature", "End")
    assert all(a != b for a, b in zip(before, pictures(page), strict=True))


# Comparison


def test_the_line_gives_both_weights_and_their_difference(show):
    first, second = [[0.0, 0.0]], np.log([[0.25, 0.75]])
    page = show(AttentionHeatmap(first, compare=second, view="difference")).page
    page.locator(MAP).focus()
    assert live(page) == (
        "query “0” → key “0”: first 0.500, second 0.250 → weight difference −0.250"
    )
    page.locator(MAP).press("ArrowRight")
    assert live(page).endswith("first 0.500, second 0.750 → weight difference +0.250")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_difference_has_its_own_scale(show, theme):
    """One row: masked, no change, more, less, a little more."""
    first = np.log([[0.2, 0.3, 0.0001, 0.4, 0.2999]])
    second = np.log([[0.2, 0.3, 0.3999, 0.0001, 0.3]])
    mask = np.array([[False, True, True, True, True]])
    page = show(
        AttentionHeatmap(first, compare=second, mask=mask, view="difference"), theme=theme
    ).page
    masked, same, more, less, little = (colours(page, strip(page, 0, j)) for j in range(5))
    assert same == {(0, 0, 0, 0)}, "no change is blank"
    assert len(masked) > 5, "masked is hatched, not blank"
    ((red, _, blue, _),) = more
    assert blue > red, "more is violet"
    ((red, _, blue, _),) = less
    assert red > 1.4 * blue, "less is brown"
    assert little not in (more, same)
    assert "small" in page.locator(".ah-scale.ah-off").text_content()
    scale = page.locator(".ah-scale:not(.ah-off)").inner_text().split()
    assert scale == ["no", "change", "−0.5", "+0.5", "second", "minus", "first"]


def test_views_are_chosen_by_keys_and_the_legend_turns_without_moving_anything(show):
    page = show(compared(gold=marks(), title="t"), width=360).page
    size = "document.querySelector('.attn-heatmap').scrollHeight"
    before, top = page.evaluate(size), page.locator(".ah-readout").bounding_box()["y"]
    scales = page.locator(".ah-scale").all()
    page.get_by_role("radio", name="old").focus()
    for name in ("new", "Difference"):
        page.keyboard.press("ArrowRight")
        assert page.get_by_role("radio", name=name).is_checked()
        said(page, f"View: {'new minus old' if name == 'Difference' else name}.")
        assert page.evaluate(size) == before
        assert page.locator(".ah-readout").bounding_box()["y"] == top
        (shown,) = (scale for scale in scales if scale.is_visible())
        assert ("no change" in shown.inner_text()) == (name == "Difference")


# Gold marks


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_gold_is_outlined_on_light_and_on_dark_cells(show, theme):
    gold = torch.tensor([[True, True, False]])
    page = show(AttentionHeatmap(torch.tensor([[9.0, 0.0, 0.0]]), gold=gold), theme=theme).page
    for j in range(3):
        box = cell_box(page, 0, j)
        edge = {"x": box["x"], "y": box["y"] + box["h"] * 0.8, "w": 8, "h": 1}
        row = pixels(page, edge)[0, :, :3].sum(axis=-1).tolist()
        gaps = max(abs(a - b) for a, b in zip(row[1:], row, strict=False))
        assert (gaps > 300) == (j < 2), f"cell {j}: {row}"


def test_gold_is_said_and_counted(show):
    widget = small(gold=marks(), temperature=0.5, controls=("temperature",))
    page = show(widget).page
    hits, of = widget.hits()
    text = f"argmax in gold: {hits} of {of} queries"
    assert page.locator(".ah-hits").inner_text() == text
    assert text in page.locator(".ah-hidden caption").text_content()
    page.locator(MAP).focus()
    assert live(page).startswith("query “le” → key “the” (gold): score ")
    page.locator(MAP).press("ArrowRight")
    assert "gold" not in live(page)


# Copying

REFUSED = "() => { navigator.clipboard.writeText = async () => { throw new Error('no'); }; }"


def assert_is_shown(text, widget):
    copied = eval(text, {"torch": torch})
    np.testing.assert_allclose(copied.numpy(), widget.weights(), rtol=6e-4, atol=1e-12)


def test_the_values_are_copied(show):
    widget = compared(controls=("copy",), view="difference")
    page = show(widget).page
    page.evaluate(
        "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
    )
    page.get_by_role("button", name="Copy values").press("Enter")
    said(page, "copied")
    assert_is_shown(page.evaluate("window.copied"), widget)
    assert page.locator("textarea").is_hidden()
    assert page.locator(".ah-copy").inner_text() == "Copied ✓"


@pytest.mark.parametrize("works", [True, False])
def test_without_a_clipboard_the_text_is_selected_and_copied_if_that_works(show, works):
    widget = small(controls=("copy",))
    page = show(widget, width=360).page
    page.evaluate(REFUSED)
    page.evaluate(
        """(works) => { document.execCommand = (command) => {
          const area = document.activeElement;
          window.copied = area.value.slice(area.selectionStart, area.selectionEnd);
          return works && command === "copy";
        }; }""",
        works,
    )
    page.get_by_role("button", name="Copy values").click()
    said(page, "copied" if works else "Ctrl+C")
    assert_is_shown(page.evaluate("window.copied"), widget)
    area = page.locator("textarea")
    if not works:
        box = area.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        area.press("Escape")
    area.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.className") == "ah-button ah-copy"


def test_the_simple_map_has_no_new_parts(show):
    page = show(small()).page
    assert page.locator("input, select, button, textarea, .ah-hits, .ah-head").count() == 0
    assert page.locator(".ah-key").count() == 3


# Where the line stands


@pytest.mark.parametrize("wide", [1280, 700])
def test_what_is_said_stands_beside_the_map(show, wide):
    """In a wide widget, as high as the map; below it in a narrow one and under a low, wide map."""
    page = show(explorer(), width=wide).page
    box, said = (page.locator(what).bounding_box() for what in (".ah-map", ".ah-readout"))
    assert said["x"] >= box["x"] + box["width"] + 16
    assert box["y"] < said["y"] < box["y"] + box["height"]
    for other, width in ((explorer(), 620), (AttentionHeatmap(torch.randn(3, 8)), wide)):
        page = show(other, width=width).page
        box, said = (page.locator(what).bounding_box() for what in (".ah-map", ".ah-readout"))
        assert said["y"] >= box["y"] + box["height"] and abs(said["x"] - box["x"]) < 2


def test_the_line_beside_the_map_moves_nothing(show):
    """Whatever it says, and also where a row is long."""
    page = show(small(gold=marks(), values=torch.randn(7, 2)), width=720).page
    heights = set()
    for i in range(5):
        page.mouse.click(*point_at(page, i, 6))
        heights.add(page.locator(".attn-heatmap").bounding_box()["height"])
    assert len(heights) == 1
