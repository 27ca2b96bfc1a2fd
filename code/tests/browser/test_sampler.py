"""The sampler in a browser: its arithmetic against Python's, and what no other widget does."""

import math

import pytest
import torch
from attnbook_testing.widgets import sampler, tensor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import live, readout, said, soon, use
from widget_rows import sampler_order, sampler_token

import attnbook as ab
from attnbook.widgets import NextTokenSampler
from attnbook.widgets.sampler import _chance

in_browser = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CALL = """(all) => all.map((one) => {
  const logits = one.logits.map((x) => x ?? -Infinity);
  const found = window.arithmetic.cutTail({ ...one, logits });
  return { ...found, cut: [...found.cut] };
})"""


@pytest.fixture
def arithmetic(module):
    """`sampler/cut.js`."""
    return module("sampler/cut.js")


@st.composite
def cases(draw):
    v = draw(st.integers(1, 12))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    logits = 3 * torch.randn(v, generator=random).double()
    if draw(st.booleans()):
        logits = (logits / 3).round()  # ties
    possible = torch.rand(v, generator=random) < 0.8
    possible[draw(st.integers(0, v - 1))] = True
    logits[~possible] = -torch.inf
    return {
        "logits": logits.tolist(),
        "temperature": draw(st.floats(0.2, 3)),
        "topK": draw(st.none() | st.integers(1, 14)),
        "topP": draw(st.floats(0.05, 0.999)),
        "minP": draw(st.floats(0, 0.999) | st.just(1.0)),
    }


@given(st.lists(cases(), min_size=1, max_size=8))
@in_browser
def test_the_cut_is_truncate(arithmetic, several):
    sent = [
        {**case, "logits": [x if math.isfinite(x) else None for x in case["logits"]]}
        for case in several
    ]
    for case, found in zip(several, arithmetic.evaluate(CALL, sent), strict=True):
        own = torch.tensor(case["logits"], dtype=torch.float64)
        cut = {"top_k": case["topK"], "top_p": case["topP"], "min_p": case["minP"]}
        kept = ab.truncate(own, temperature=case["temperature"], **cut)
        sharp = ab.truncate(own, temperature=case["temperature"])
        assert found["own"] == pytest.approx(own.softmax(0).tolist(), abs=1e-12)
        assert found["sharp"] == pytest.approx(sharp.exp().tolist(), abs=1e-12)
        assert found["drawn"] == pytest.approx(kept.exp().tolist(), abs=1e-12)
        gone = [not p for p in kept.exp().tolist()]
        impossible = [not p for p in sharp.exp().tolist()]
        for reason, cut_here, never in zip(found["cut"], gone, impossible, strict=True):
            assert never or bool(reason) == cut_here
        assert found["kept"] == gone.count(False)
        assert found["held"] == pytest.approx(sharp.exp()[~torch.tensor(gone)].sum().item())
        likelier = own[found["order"]]
        assert (likelier.diff() <= 0).all() or likelier.isinf().any()


def test_chance_and_its_token_are_pythons(arithmetic):
    for seed in (0, 3, 2**31 - 1):
        call = "(seed) => Array.from({ length: 50 }, (_, n) => arithmetic.chanceOf(seed, n))"
        assert arithmetic.evaluate(call, seed) == [_chance(seed, n) for n in range(50)]
    call = "([drawn, u]) => arithmetic.tokenAt(drawn, u)"
    drawn = [0.0, 0.25, 0.0, 0.5, 0.25, 0.0]
    for u, token in ((0, 1), (0.2499, 1), (0.25, 3), (0.7499, 3), (0.75, 4), (0.9999999, 4)):
        assert arithmetic.evaluate(call, [drawn, u]) == token


def test_a_long_text_is_pythons(show):
    """The same seed writes the same text, state after state."""
    widget = sampler(temperature=1.3, top_p=0.9, min_p=0.02)
    page = show(widget).page
    for _ in range(6):
        use(page, "button", "Draw ten")
    for _ in range(60):
        widget.draw()
    assert page.locator(".ns-text").text_content() == widget.text()


def test_what_is_taken_back_is_drawn_anew(show):
    page = show(sampler(temperature=3.0)).page
    tried = set()
    for _ in range(8):
        use(page, "button", "Draw a token")
        tried.add(page.locator(".ns-text").text_content())
        use(page, "button", "Take one back")
    assert len(tried) > 3


def test_a_click_and_the_enter_key_write_a_token_that_can_be_drawn(show):
    widget = sampler(top_k=3)
    page = show(widget).page
    bars = page.locator("canvas")
    box = bars.bounding_box()
    row = (box["height"] - 22) / 13
    bars.hover(position={"x": 200, "y": 20 + 1.5 * row})
    second = sampler_order(widget)[1]
    assert readout(page).startswith(sampler_token(widget, second))
    bars.click(position={"x": 200, "y": 20 + 1.5 * row})
    widget.path = [second]
    assert page.locator(".ns-text").text_content() == widget.text()
    bars.click(position={"x": 200, "y": 20 + 3.5 * row})  # cut by top-k
    assert page.locator(".ns-text").text_content() == widget.text()
    assert "cut by top-k" in live(page)
    bars.press("Home")
    bars.press("Enter")
    widget.path = [second, sampler_order(widget)[0]]
    assert page.locator(".ns-text").text_content() == widget.text()
    bars.press("Backspace")
    widget.path = [second]
    assert page.locator(".ns-text").text_content() == widget.text()
    said(page, "written: ")


def test_where_nothing_is_held_it_says_so_and_draws_no_more(show):
    edges = [[1, -1], [-1, -1]]
    widget = NextTokenSampler(tensor(2, 2), ["a", "b"], follow=edges, end=1, path=[0, 0])
    page = show(widget).page
    assert readout(page).startswith("Nothing is held after this token.")
    draw = page.get_by_role("button", name="Draw a token")
    assert draw.get_attribute("aria-disabled") == "true"
    draw.click(force=True)
    assert live(page).startswith("Nothing is held") and page.locator("mark").inner_text() == "a"
    use(page, "button", "Take one back")
    assert draw.get_attribute("aria-disabled") == "false"
    use(page, "button", "Reset")
    assert page.locator("mark").inner_text() == "a", "Reset goes back to what it began with"
    page = show(NextTokenSampler(tensor(2, 2), ["a", "b"], follow=edges, end=1, path=[1])).page
    assert readout(page).startswith("The text has ended.")


def test_a_long_text_scrolls_to_its_end(show):
    page = show(sampler(prompt="a long beginning " * 60), width=360).page
    use(page, "button", "Draw ten")

    def at_its_end():
        below = "(box) => box.scrollHeight - box.clientHeight - box.scrollTop"
        assert page.locator(".ns-text").evaluate(below) < 2

    soon(page, at_its_end)
