"""The heat map's options in a browser: pinning, heads, comparison, gold marks, steps, copying."""

import numpy as np
import pytest
import torch

from attnbook import plots
from attnbook.widgets import AttentionHeatmap

ENGLISH = "the black cat sat on the mat".split()
FRENCH = "le chat noir est assis".split()
NAMES = ["previous", "next", "itself", "first", "near", "same", "all", "noise"]
SECOND = [0.0] * 6 + [2.0]


def tensor(*shape, seed=0):
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def marks() -> torch.Tensor:
    gold = torch.zeros(5, 7, dtype=torch.bool)
    for i, j in enumerate([0, 2, 1, 3, 3]):
        gold[i, j] = True
    return gold


def small(**options):
    labels = {"query_labels": FRENCH, "key_labels": ENGLISH}
    return AttentionHeatmap(tensor(5, 7), **(labels | options))


def with_heads(**options):
    settings = {"heads": True, "head_labels": NAMES, "controls": ("head", "grid", "temperature")}
    labels = {"query_labels": FRENCH, "key_labels": ENGLISH}
    return AttentionHeatmap(tensor(8, 5, 7), **(settings | labels | options))


def compared(**options):
    settings = {"compare": tensor(5, 7, seed=1), "compare_labels": ["old", "new"]}
    return small(**({"controls": ("view",)} | settings | options))


def live(page) -> str:
    return page.locator(".ah-hidden [aria-live]").inner_text()


def said(page, text):
    """Wait until the live line holds `text`."""
    page.wait_for_function(
        """(text) => document.querySelector(".ah-hidden [aria-live]").textContent.includes(text)""",
        arg=text,
        timeout=3000,
    )


def readout(page) -> str:
    return page.locator(".ah-readout").inner_text()


def table(page) -> list[list[str]]:
    page.wait_for_timeout(220)  # it is written a moment after a change
    return page.evaluate(
        """() => [...document.querySelectorAll(".ah-hidden tr")].slice(1).map(
          (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))"""
    )


def number(text: str) -> float:
    return float(text.removesuffix(" (gold)").replace("−", "-").replace("< ", ""))


def assert_shows(page, widget):
    """The hidden table holds what Python computes, to its three digits."""
    wanted = widget.weights()
    rows = table(page)
    assert len(rows) == len(wanted)
    for got, row in zip(rows, wanted, strict=True):
        assert [number(text) for text in got] == pytest.approx(list(row), abs=0.0011)


def centre(page, widget, i, j):
    """The middle of a cell, from the frame around it when it has the keyboard's focus."""
    canvas = page.locator(".ah-map canvas")
    canvas.focus()
    canvas.press("Home")
    canvas.press("PageUp")
    for key, times in (("ArrowDown", i), ("ArrowRight", j)):
        for _ in range(times):
            canvas.press(key)
    box = page.locator(".ah-ring").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pixel(page, x, y) -> tuple[int, ...]:
    """The colour of the map at a point of the page."""
    return tuple(
        page.evaluate(
            """([x, y]) => {
              const canvas = document.querySelector(".ah-map canvas");
              const box = canvas.getBoundingClientRect();
              return [...canvas.getContext("2d").getImageData(x - box.x, y - box.y, 1, 1).data];
            }""",
            [x, y],
        )
    )


def rgb(colour: str) -> tuple[int, ...]:
    return (*(int(colour[at : at + 2], 16) for at in (1, 3, 5)), 255)


# Pinning


def test_a_click_pins_a_row_and_reads_it_out(show):
    widget = small()
    page = show(widget).page
    x, y = centre(page, widget, 1, 3)
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


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_keys_pin_and_unpin(show, key):
    page = show(small(), style="body { min-height: 4000px }").page
    canvas = page.locator(".ah-map canvas")
    canvas.focus()
    canvas.press("ArrowDown")
    canvas.press(key)
    assert live(page).startswith("query “chat” pinned: ")
    canvas.press("ArrowDown")  # moving on does not unpin
    assert live(page).startswith("query “noir” → ") and page.locator(".ah-row").is_visible()
    canvas.press("Escape")
    assert live(page) == "unpinned" and page.locator(".ah-row").is_hidden()
    assert page.evaluate("window.scrollY") == 0


def test_escape_is_left_to_the_page_when_nothing_is_pinned(show):
    page = show(small()).page
    page.evaluate("document.addEventListener('keydown', (event) => { window.heard = event.key; })")
    page.locator(".ah-map canvas").press("Escape")
    assert page.evaluate("window.heard") == "Escape"
    page.locator(".ah-map canvas").press("Enter")
    page.evaluate("window.heard = ''")
    page.locator(".ah-map canvas").press("Escape")
    assert page.evaluate("window.heard") == ""


def test_a_query_pinned_by_python_is_pinned(show):
    page = show(small(query=2)).page
    assert page.locator(".ah-row").is_visible()
    assert readout(page).startswith("query “noir” pinned: ") and live(page) == ""
    page.locator(".ah-map canvas").focus()
    assert live(page).startswith("query “noir” → key “the”"), "the keyboard starts there"


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
    assert_shows(shown.page, widget)
    shown.page.get_by_label("Causal").press("Space")
    shown.page.get_by_role("button", name="Reset").click()
    assert_shows(shown.page, widget)
    assert not shown.faults


# Heads


def test_the_picker_shows_another_head(show):
    widget = with_heads(mask=torch.rand(5, 7) > 0.0)
    page = show(widget).page
    assert_shows(page, widget)
    page.get_by_role("combobox", name="Head").select_option(label="first")
    widget.head = 3
    assert_shows(page, widget)
    said(page, "Head first.")
    page.get_by_role("button", name="Reset").click()
    widget.head = 0
    assert_shows(page, widget)


def test_masks_and_sequences_per_head(show):
    mask = torch.rand(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)) > 0.4
    widget = AttentionHeatmap(
        tensor(2, 3, 4, 5), mask=mask, batch=1, head=2, controls=("batch", "head")
    )
    page = show(widget).page
    for batch, head in ((1, 2), (0, 1)):
        widget.batch, widget.head = batch, head
        page.get_by_label("Sequence").select_option(str(batch))
        page.get_by_role("combobox", name="Head").select_option(str(head))
        for row, allowed, weights in zip(
            table(page), widget.allowed(), widget.weights(), strict=True
        ):
            for text, ok, weight in zip(row, allowed, weights, strict=True):
                assert (text == "masked") != ok
                assert not ok or number(text) == pytest.approx(weight, abs=0.0011)


def test_a_head_of_the_grid_opens_large(show):
    widget = with_heads()
    page = show(widget).page
    heads = page.get_by_role("radio")
    assert heads.count() == 8
    heads.nth(5).click()
    widget.head = 5
    assert_shows(page, widget)
    said(page, "Head same.")
    assert [head.get_attribute("aria-checked") for head in heads.all()].index("true") == 5
    assert page.get_by_role("combobox", name="Head").input_value() == "5", "the list follows"


def test_arrow_keys_go_through_the_grid(show):
    page = show(with_heads()).page
    heads = page.get_by_role("radio")
    assert [head.get_attribute("tabindex") for head in heads.all()].count("0") == 1
    focused = "document.activeElement.textContent"
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
        assert page.evaluate(focused) == name
        assert page.locator(".ah-head[aria-checked=true]").inner_text() == name


SMALL = """() => [...document.querySelectorAll(".ah-head canvas")].map((canvas) => {
  const { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const cell = (width - 1) / 2;
  return [0, 1].map((j) => [...data.slice(4 * Math.floor(cell * (j + 0.5) + 1) + 8 * width,
    4 * Math.floor(cell * (j + 0.5) + 1) + 8 * width + 4)]);
})"""


def test_the_grid_has_one_scale(show):
    """Weight 0.5 has one colour in each head, whatever the largest weight of the head is."""
    weights = torch.tensor([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]]])
    widget = AttentionHeatmap(weights.log(), heads=True, controls=("grid",))
    page = show(widget).page
    half, one = page.evaluate(SMALL)
    assert half[0] == half[1] and half[0] != one[0]
    assert tuple(one[0]) == rgb(plots.RAMP[-1]) and one[1][3] == 0, "zero is blank"


def test_every_small_map_follows_a_change(show):
    page = show(with_heads()).page
    pictures = (
        """() => [...document.querySelectorAll(".ah-head canvas")].map((c) => c.toDataURL())"""
    )
    before = page.evaluate(pictures)
    assert len(set(before)) == 8
    page.get_by_label("Temperature").press("End")
    assert all(a != b for a, b in zip(before, page.evaluate(pictures), strict=True))


# Comparison


def test_three_views(show):
    widget = compared()
    page = show(widget).page
    assert_shows(page, widget)
    for name, view in (("new", "second"), ("Difference", "difference"), ("old", "first")):
        page.get_by_role("radio", name=name).check(force=True)
        widget.view = view
        assert_shows(page, widget)
        said(page, f"View: {'new minus old' if view == 'difference' else name}.")


def test_the_views_are_chosen_by_keys(show):
    page = show(compared()).page
    page.get_by_role("radio", name="old").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="new").is_checked()
    said(page, "View: new.")


def test_the_line_gives_both_weights_and_their_difference(show):
    first, second = [[0.0, 0.0]], np.log([[0.25, 0.75]])
    widget = AttentionHeatmap(first, compare=second, view="difference")
    page = show(widget).page
    page.locator(".ah-map canvas").focus()
    assert live(page) == (
        "query “0” → key “0”: first 0.500, second 0.250 → weight difference −0.250"
    )
    page.keyboard.press("ArrowRight")
    assert live(page).endswith("first 0.500, second 0.750 → weight difference +0.250")


def difference_map():
    """One row: masked, no change, more, less, a little more."""
    first = np.log([[0.2, 0.3, 0.0001, 0.4, 0.2999]])
    second = np.log([[0.2, 0.3, 0.3999, 0.0001, 0.3]])
    mask = np.array([[False, True, True, True, True]])
    return AttentionHeatmap(first, compare=second, mask=mask, view="difference", controls=("view",))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_difference_has_its_own_scale(show, theme):
    widget = difference_map()
    page = show(widget, theme=theme).page
    colours = {}
    for j, name in enumerate(("masked", "same", "more", "less", "little")):
        x, y = centre(page, widget, 0, j)
        colours[name] = pixel(page, x - 20, y - 18)
    assert colours["same"][3] == 0, "no change is blank"
    assert colours["masked"][3] == 255, "masked is hatched, not blank"
    red, _, blue = colours["more"][:3]
    assert blue > red, "more is violet"
    red, _, blue = colours["less"][:3]
    assert red > 1.4 * blue, "less is brown"
    assert colours["little"] not in (colours["more"], colours["same"])
    off = page.locator(".ah-scale.ah-off")
    assert off.count() == 1 and "small" in off.text_content()
    assert page.locator(".ah-scale:not(.ah-off)").inner_text().split() == [
        *("no", "change", "−0.5", "+0.5", "second", "minus", "first")
    ]


def test_the_legend_turns_without_moving_anything(show):
    for width in (700, 360):
        page = show(compared(gold=marks(), title="t"), width=width).page
        size = "document.querySelector('.attn-heatmap').scrollHeight"
        before = page.evaluate(size)
        top = page.locator(".ah-readout").bounding_box()["y"]
        scales = page.locator(".ah-scale").all()
        assert len({scale.bounding_box()["y"] for scale in scales}) == 1, "in one place"
        for name in ("new", "Difference"):
            page.get_by_role("radio", name=name).check(force=True)
            assert page.evaluate(size) == before
            assert page.locator(".ah-readout").bounding_box()["y"] == top
            (shown,) = (scale for scale in scales if scale.is_visible())
            assert ("no change" in shown.inner_text()) == (name == "Difference")


# Gold marks


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_gold_is_outlined_on_light_and_on_dark_cells(show, theme):
    scores = torch.tensor([[9.0, 0.0, 0.0]])
    widget = AttentionHeatmap(scores, gold=torch.tensor([[True, True, False]]))
    page = show(widget, theme=theme).page
    for j in range(3):
        x, y = centre(page, widget, 0, j)
        row = [sum(pixel(page, x - 26 + at, y + 15)[:3]) for at in range(8)]
        gaps = max(abs(a - b) for a, b in zip(row[1:], row, strict=False))
        assert (gaps > 300) == (j < 2), f"cell {j}: {row}"


def test_gold_is_said_and_counted(show):
    widget = small(gold=marks(), temperature=0.5, controls=("temperature",))
    page = show(widget).page
    hits, of = widget.hits()
    assert page.locator(".ah-hits").inner_text() == f"argmax in gold: {hits} of {of} queries"
    page.locator(".ah-map canvas").focus()
    assert live(page).startswith("query “le” → key “the” (gold): score ")
    page.keyboard.press("ArrowRight")
    assert "gold" not in live(page)
    assert [[text.endswith("(gold)") for text in row] for row in table(page)] == marks().tolist()
    caption = page.locator(".ah-hidden caption").text_content()
    assert f"argmax in gold: {hits} of {of} queries" in caption


def test_hits_follow_head_and_view(show):
    widget = with_heads(gold=marks(), compare=tensor(8, 5, 7, seed=5), controls=("head", "view"))
    page = show(widget).page
    found = set()
    for head in range(8):
        widget.head = head
        page.get_by_role("combobox", name="Head").select_option(str(head))
        hits = []
        for view in ("first", "second"):
            widget.view = view
            page.get_by_role("radio", name=view).check(force=True)
            hits.append(widget.hits()[0])
            assert (
                page.locator(".ah-hits").inner_text() == f"argmax in gold: {hits[-1]} of 5 queries"
            )
        page.get_by_role("radio", name="Difference").check(force=True)
        assert page.locator(".ah-hits").inner_text() == (
            f"argmax in gold: first {hits[0]}, second {hits[1]} of 5 queries"
        )
        found.update(hits)
    assert len(found) > 1, "the count changes"


# Steps


def test_steps_pin_one_query_after_another(show):
    page = show(small(controls=("step",))).page
    back, on = (page.get_by_role("button", name=f"{n} query") for n in ("Previous", "Next"))
    for name in ("le", "chat", "noir"):
        on.press("Enter")
        assert live(page).startswith(f"query “{name}” pinned: ")
    assert page.locator(".ah-step output").inner_text() == "query 3 of 5"
    back.click()
    assert live(page).startswith("query “chat” pinned: ")
    for _ in range(9):
        on.press("Enter")
    assert page.locator(".ah-step output").inner_text() == "query 5 of 5"
    assert on.get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Reset").click()
    assert page.locator(".ah-row").is_hidden()
    assert page.locator(".ah-step output").inner_text() == "5 queries"


def test_later_queries_are_faded(show):
    widget = small(controls=("step",), dim_later=True, query=1, gold=marks())
    page = show(widget).page
    points = [centre(page, widget, i, 3) for i in range(5)]
    strength = [pixel(page, x - 15, y - 12)[3] for x, y in points]
    assert strength[:2] == [255, 255] and max(strength[2:]) < 80
    assert page.locator(".ah-hits").inner_text().endswith("of 2 queries so far")
    page.get_by_role("button", name="Next query").click()
    assert pixel(page, points[2][0] - 15, points[2][1] - 12)[3] == 255


def test_nothing_is_faded_unless_asked(show):
    widget = small(query=1)
    page = show(widget).page
    x, y = centre(page, widget, 4, 3)
    assert pixel(page, x - 15, y - 12)[3] == 255


# Copying

GRANTED = "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
REFUSED = "() => { navigator.clipboard.writeText = async () => { throw new Error('no'); }; }"
SELECTION = """() => {
  const area = document.querySelector("textarea");
  return area.value.slice(area.selectionStart, area.selectionEnd);
}"""


def assert_is_shown(text, widget):
    copied = eval(text, {"torch": torch})
    np.testing.assert_allclose(copied.numpy(), widget.weights(), rtol=6e-4, atol=1e-12)


@pytest.mark.parametrize("view", ["first", "difference"])
def test_the_values_are_copied(show, view):
    widget = compared(controls=("copy",), view=view)
    page = show(widget).page
    page.evaluate(GRANTED)
    page.get_by_role("button", name="Copy values").press("Enter")
    said(page, "copied")
    assert_is_shown(page.evaluate("window.copied"), widget)
    assert page.locator("textarea").is_hidden()
    assert page.locator(".ah-copy").inner_text() == "Copied ✓"


def test_without_a_clipboard_a_selection_is_copied(show):
    widget = small(controls=("copy",), temperature=0.5)
    page = show(widget).page
    page.evaluate(REFUSED)
    page.evaluate(
        """() => { document.execCommand = (command) => {
          const area = document.activeElement;
          window.copied = area.value.slice(area.selectionStart, area.selectionEnd);
          return command === "copy";
        }; }"""
    )
    page.get_by_role("button", name="Copy values").click()
    said(page, "copied")
    assert_is_shown(page.evaluate("window.copied"), widget)
    page.wait_for_selector("textarea", state="hidden")
    assert page.evaluate("document.activeElement.className") == "ah-button ah-copy"


def test_where_nothing_copies_the_text_is_selected(show):
    widget = small(controls=("copy",))
    for width in (1280, 360):
        page = show(widget, width=width).page
        page.evaluate(REFUSED)
        page.evaluate("() => { document.execCommand = () => false; }")
        page.get_by_role("button", name="Copy values").click()
        said(page, "Ctrl+C")
        assert_is_shown(page.evaluate(SELECTION), widget)
        box = page.locator("textarea").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
        page.locator("textarea").press("Escape")
        assert page.locator("textarea").is_hidden()
        assert page.evaluate("document.activeElement.className") == "ah-button ah-copy"


# All together


def everything():
    return with_heads(
        compare=tensor(8, 5, 7, seed=1),
        compare_labels=["untrained", "trained"],
        gold=marks(),
        dim_later=True,
        title="everything at once",
        scale=4,
        controls="head grid view lengths temperature causal scale step copy".split(),
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_fits_a_phone(show, theme):
    shown = show(everything(), width=360, theme=theme)
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for part in page.locator(".attn-heatmap :is(button, select, input, canvas, p)").all():
        box = part.bounding_box()
        if box and part.is_visible():
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360.5, part
    assert not shown.faults


def test_every_part_has_a_name_and_can_be_reached(show):
    page = show(everything()).page
    names = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")].map((node) =>
          node.getAttribute("aria-label") || node.labels?.[0]?.textContent || node.textContent)"""
    )
    assert len(names) == 20 and all(name.strip() for name in names)
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.className || document.activeElement.tagName")
        )
    assert {"CANVAS", "SELECT", "INPUT", "ah-head", "ah-button ah-copy"} <= reached


def test_the_simple_map_has_no_new_parts(show):
    page = show(small()).page
    assert page.locator("input, select, button, textarea, .ah-hits, .ah-head").count() == 0
    assert page.locator(".ah-key").count() == 3
