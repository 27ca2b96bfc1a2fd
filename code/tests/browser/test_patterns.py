"""The pattern designer in a browser: its arithmetic against Python's, its terms, its speed."""

import numpy as np
import pytest
import torch
from attnbook_testing.designs import designs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import soon, use
from widget_rows import shows

import attnbook as ab
from attnbook.widgets import PatternDesigner, patterns
from devkit.bench import speed

in_browser = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CALL = """(all) => all.map(({ n, terms, query }) => {
  const mask = arithmetic.combine(n, terms);
  const steps = [...arithmetic.layersTo(n, mask, query)];
  return { mask: [...mask], steps, ...arithmetic.countPairs(n, mask) };
})"""


@given(st.lists(designs(), min_size=1, max_size=8))
@in_browser
def test_mask_counts_and_reach_are_pythons(module, several):
    for design, found in zip(
        several, module("patterns/pattern.js").evaluate(CALL, several), strict=True
    ):
        widget = PatternDesigner(**design)
        mask = widget.mask()
        assert found["mask"] == mask.int().flatten().tolist()
        assert found["pairs"] == widget.pairs() and found["counts"] == mask.sum(1).tolist()
        assert found["causal"] == (not mask.triu(1).any())
        steps = np.array(found["steps"])
        for layers in range(widget.n + 1):
            reached = (steps >= 0) & (steps <= layers)
            assert (reached == widget.reach(layers).numpy()).all()
        assert steps.max() == widget.layers_needed()


@given(st.lists(designs(), min_size=1, max_size=8))
@in_browser
def test_its_python_makes_the_same_mask(module, several):
    call = "(all) => all.map(({ n, terms }) => arithmetic.pythonText(n, terms))"
    for design, text in zip(
        several, module("patterns/words.js").evaluate(call, several), strict=True
    ):
        assert torch.equal(eval(text, {"ab": ab, "torch": torch}), PatternDesigner(**design).mask())


def tied_count(n, seed) -> int | None:
    """A count of keys that parts two equal draws, if a row of this seed has any."""
    draws = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)).sort(dim=-1).values
    ties = (draws[:, 1:] == draws[:, :-1]).nonzero()
    return int(ties[0, 1]) + 1 if len(ties) else None


@pytest.mark.parametrize("n", [1, 3, 64, 256])
def test_random_keys_are_those_of_torch(module, n):
    """Rows beyond one state of the generator, seeds up to the last, counts that part a tie."""
    call = """([n, all]) => all.map(([seed, count]) =>
      arithmetic.combine(n, [["|", "random", { count, seed }]]).join(""))"""
    seeds = range(0, 257, 1 if n < 256 else 16)
    ties = [tied_count(n, seed) for seed in seeds]
    assert any(ties) or n < 256
    several = [(seed, tie or -(-n // 3)) for seed, tie in zip(seeds, ties, strict=True)]
    drawn = module("patterns/pattern.js").evaluate(call, [n, several])
    for (seed, count), found in zip(several, drawn, strict=True):
        wanted = ab.random_mask(n, count=count, generator=torch.Generator().manual_seed(seed))
        assert found == (wanted.byte() + ord("0")).numpy().tobytes().decode(), seed


def test_patterns_begin_as_in_python(module):
    begin = module("patterns/pattern.js").evaluate("arithmetic.KINDS")
    assert begin == patterns.KINDS and list(begin) == list(patterns.KINDS)


def term(page, t):
    return page.get_by_role("group", name=f"Term {t}", exact=True)


def test_terms_come_and_go_by_the_keyboard(show):
    widget = PatternDesigner(32)
    page = show(widget).page
    add = page.get_by_role("button", name="Add a term")
    for _ in range(3):  # the third time it is full
        add.press("Enter")
    kinds = ["window", "global", "dilated", "block"]
    widget.terms = [("|", kind) for kind in kinds]
    soon(page, shows, page, widget)
    term(page, 1).get_by_role("button").press("Enter")
    widget.terms = [("|", kind) for kind in kinds[1:]]
    soon(page, shows, page, widget)
    assert page.evaluate("document.activeElement.ariaLabel") == "Remove term 1"
    for t in (3, 2):
        term(page, t).get_by_role("button").press("Enter")
        assert page.evaluate("document.activeElement.textContent") == "Add a term"
    assert not term(page, 1).get_by_role("button").is_visible(), "the last one stays"
    widget.terms = ["global"]
    soon(page, shows, page, widget)


def test_half_written_numbers_change_nothing_and_go_on_leaving(show):
    widget = PatternDesigner(32)
    page = show(widget).page
    width, places = page.get_by_label("width"), page.get_by_label("places", exact=True)
    for field, wrong, old in (
        (width, "0", "5"),
        (width, "", "5"),
        (places, "1, x", "0"),
        (places, "256", "0"),
    ):
        field.fill(wrong)
        assert field.get_attribute("aria-invalid") == "true"
        soon(page, shows, page, widget)
        field.blur()
        assert field.input_value() == old and field.get_attribute("aria-invalid") is None
    places.press("End")
    places.press_sequentially(", 7,")  # "0, 7,": the comma is left alone while one writes
    assert places.input_value() == "0, 7,"
    widget.terms = ["window", ("|", "global", {"places": [0, 7]})]
    soon(page, shows, page, widget)
    for wrong in ("", "x"):  # no place is a choice, too
        places.fill(wrong)
        widget.terms = ["window", ("|", "global", {"places": []})]
        soon(page, shows, page, widget)
        places.blur()
        assert places.input_value() == ""


def test_pressing_a_row_chooses_its_query(show):
    widget = PatternDesigner(32)
    page = show(widget).page
    canvas = page.locator("canvas")
    cell = (canvas.bounding_box()["height"] - 124) // 32
    canvas.click(position={"x": 200, "y": 34 + 9.5 * cell})
    widget.query = 9
    soon(page, shows, page, widget)
    canvas.click(position={"x": 200, "y": 10})
    soon(page, shows, page, widget)


def test_a_change_at_256_places_takes_less_than_a_frame(browser):
    """The least of many, so that a busy machine does not count; and something changes each time."""
    terms = ["window", ("|", "global"), ("|", "random", {"count": 8}), ("&", "causal")]
    widget = PatternDesigner(256, terms, layers=12)
    change = """(values) => {
      const at = (selector) => document.querySelector(selector);
      const [input, pen] = [at("input[type=number]"), at("canvas").getContext("2d")];
      return values.map((value) => {
        input.value = value;
        const start = performance.now();
        input.dispatchEvent(new Event("input", { bubbles: true }));
        pen.getImageData(0, 0, 1, 1); // no drawing is left for later
        const took = performance.now() - start;
        return [took, at(".pd-code").textContent, at(".ah-readout").textContent];
      });
    }"""
    with speed.shown(browser, widget) as page:
        found = page.evaluate(change, list(range(10, 40)))
        assert len({text for _, text, _ in found}) == len({said for _, _, said in found}) == 30
        assert min(took for took, _, _ in found) < 16
        for slider in (1, 2):  # layers, query
            assert min(page.evaluate(speed.CHANGES, [[slider], 20])) < 16


def test_operators_and_kinds_are_chosen_from_lists(show):
    widget = PatternDesigner(32)
    page = show(widget).page
    use(page, "combobox", "Operator", "&")
    widget.terms = ["window", ("&", "global")]
    soon(page, shows, page, widget)
    term(page, 2).get_by_label("Pattern").select_option("random")
    widget.terms = ["window", ("&", "random")]
    soon(page, shows, page, widget)
