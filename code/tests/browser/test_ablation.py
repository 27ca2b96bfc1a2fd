"""Head ablation in a browser: its sum over heads, what it shows, says, and does."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnbook.widgets import HeadAblation, bundle

CALL = """(cases) => cases.map(({ sizes, out, b, ...arrays }) => {
  const { countRight, predictClasses, sumHeads } = window.arithmetic;
  const typed = { added: Float64Array.from(arrays.added), base: Float32Array.from(arrays.base),
                  answers: Uint8Array.from(arrays.answers) };
  const logits = sumHeads(typed, sizes, b, out);
  return { logits: [...logits], said: predictClasses(logits, sizes.classes),
           counts: countRight(typed, sizes, out) };
})"""


@pytest.fixture(scope="module")
def sums_of(browser):
    """Send cases to `ablation_sum.js` and return what it finds."""
    page = browser.new_page()
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          window.arithmetic = await import(url);
        }""",
        bundle.join("ablation/sum.js"),
    )
    yield lambda cases: page.evaluate(CALL, cases)
    page.close()


@st.composite
def cases(draw):
    b, h, q, r, m = (draw(st.integers(1, top)) for top in (3, 4, 4, 3, 5))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    # few distinct numbers, so that ties come up: then the first class is taken
    added = random.integers(-2, 3, size=(b, h, q, r, m)) / 2
    base = random.integers(-1, 2, size=(r, m)) / 2
    out = draw(st.sets(st.integers(0, h - 1)))
    answers = random.integers(m, size=(b, q, r))
    weights = np.ones((b, h, q, 2)) / 2
    widget = HeadAblation(weights, added, answers, base=base, ablated=out)
    sizes = {"batches": b, "heads": h, "queries": q, "relations": r, "classes": m}
    flat = {"added": widget.added(), "base": base, "answers": answers}
    sent = {name: array.flatten().tolist() for name, array in flat.items()}
    return widget, {**sent, "sizes": sizes, "out": sorted(out), "b": draw(st.integers(0, b - 1))}


@given(st.lists(cases(), min_size=1, max_size=6))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_equals_python(sums_of, several):
    for (widget, case), got in zip(several, sums_of([case for _, case in several]), strict=True):
        wanted = widget.logits()[case["b"]]
        assert np.reshape(got["logits"], wanted.shape).tolist() == wanted.tolist()
        assert np.reshape(got["said"], wanted.shape[:2]).tolist() == wanted.argmax(-1).tolist()
        right = widget.right()
        counts = [*right.sum(axis=(0, 1)).tolist(), int(right.all(axis=-1).sum())]
        assert got["counts"] == counts


def two_heads(**options):
    """Two heads, each of which alone knows one of two answers, over three queries."""
    weights = np.stack((np.eye(3), np.eye(3)[::-1]))[None].repeat(2, axis=0)  # (b, h, q, k)
    answers = np.array([[[0, 3], [1, 2], [2, 1]], [[3, 3], [3, 3], [3, 3]]])
    added = np.zeros((2, 2, 3, 2, 4))
    for r in range(2):
        np.put_along_axis(added[:, r, :, r], answers[..., r, None], 5.0, axis=-1)
    return HeadAblation(
        weights,
        added,
        answers,
        base=np.array([[0.5, 0, 0, 0], [0.5, 0, 0, 0]]),
        relations=["left", "match"],
        query_labels=[["q0", "q1", "q2"], ["r0", "r1", "r2"]],
        key_labels=["k0", "k1", "k2"],
        inputs={"token": [["a", "b", "c"], ["d", "e", "f"]]},
        title="take a head out",
        alt="Two heads.",
        **options,
    )


def scores(page):
    return page.locator(".ab-score output").all_inner_texts()


def said(page):
    return page.locator(".ab-said > span").all_inner_texts()


def test_a_click_takes_a_head_out_and_another_puts_it_back(show):
    with show(two_heads()) as shown:
        page = shown.page
        assert scores(page) == ["6 of 6"] * 3
        page.locator(".ab-head").nth(0).click()
        # without head 0 the first answer is class 0, which is right for one query of the six
        assert scores(page) == ["1 of 6", "6 of 6", "1 of 6"]
        assert said(page) == ["0", "0", "0", "3", "2", "1"]
        assert page.locator(".ab-wrong").count() == 2
        page.locator(".ab-head").nth(1).click()
        assert scores(page) == ["1 of 6", "0 of 6", "0 of 6"]
        page.get_by_role("switch", name="head 0").click()
        assert scores(page) == ["6 of 6", "0 of 6", "0 of 6"]
        page.get_by_role("button", name="All heads in").click()
        assert scores(page) == ["6 of 6"] * 3
        assert shown.faults == []


def test_it_starts_as_python_says(show):
    with show(two_heads(ablated=[1], batch=1, query=2)) as shown:
        page = shown.page
        switches = page.get_by_role("switch")
        states = [switches.nth(n).get_attribute("aria-checked") for n in range(2)]
        assert states == ["true", "false"]
        assert page.locator(".ab-state").all_inner_texts() == ["in", "out"]
        assert page.locator(".ab-input").all_inner_texts() == ["d", "e", "f"]
        assert page.locator(".ah-readout").inner_text() == (
            "r2: left 3, right (logit of 3: 0.0 without heads, head 0 +5.0, head 1 out); "
            "match 0, wrong, 3 is right (logit of 3: 0.0 without heads, head 0 +0.0, head 1 out)."
        )


def test_the_keyboard_reaches_everything(show):
    with show(two_heads()) as shown:
        page = shown.page
        live = page.locator("[aria-live=polite]")
        page.get_by_role("switch", name="head 1").focus()
        page.keyboard.press("Space")
        assert scores(page)[1] == "0 of 6"
        assert live.inner_text() == (
            "head 1 is out. left: 6 of 6 right; match: 0 of 6 right; both: 0 of 6 right."
        )
        page.locator(".ab-output").focus()
        for key, start in (("ArrowRight", "q0:"), ("End", "q2:"), ("ArrowLeft", "q1:")):
            page.keyboard.press(key)
            assert live.inner_text().startswith(start)
        assert page.locator(".ab-here").count() == 3  # one line of tokens, two of answers
        page.get_by_label("Sequence").select_option("1")
        assert page.locator(".ab-input").all_inner_texts() == ["d", "e", "f"]
        assert shown.faults == []


def test_a_pointed_column_is_marked_in_every_map(show):
    with show(two_heads()) as shown:
        page = shown.page
        assert page.locator(".ab-mark:visible").count() == 0
        page.locator(".ab-said").nth(1).hover()
        assert page.locator(".ab-mark:visible").count() == 2
        assert "q1:" in page.locator(".ah-readout").inner_text()


def colours(page, n):
    """How many pixels of the n-th map are strongly coloured."""
    return (
        page.locator(".ab-head canvas")
        .nth(n)
        .evaluate(
            """(canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let at = 0; at < data.length; at += 4) {
            if (data[at + 3] === 255 && data[at] === 13 && data[at + 2] === 92) count++;
          }
          return count;
        }"""
        )
    )


@pytest.mark.parametrize(("width", "labelled"), [(1280, True), (360, False)])
def test_maps_fit_and_are_drawn(show, width, labelled):
    with show(two_heads(), width=width) as shown:
        page = shown.page
        assert colours(page, 0) == colours(page, 1) > 3 * 15 * 15  # three cells of weight 1
        room = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert room[0] <= room[1]
        canvas = page.locator(".ab-head canvas").nth(0).bounding_box()
        assert (canvas["width"] > canvas["height"] + 10) == labelled, "labels only where they fit"
        boxes = [page.locator(".ab-head").nth(n).bounding_box() for n in range(2)]
        assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["width"] == boxes[1]["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(show, theme):
    ground = "#ffffff" if theme == "light" else "#14181e"
    with show(two_heads(ablated=[0]), theme=theme, style=f"body {{ background: {ground}; }}") as s:
        found = s.page.evaluate(
            """() => [".ab-wrong span", ".ab-wrong small", ".ab-input", ".ab-name b", ".ab-state"]
              .map((selector) => {
                const node = document.querySelector(selector);
                let holder = node;
                while (getComputedStyle(holder).backgroundColor === "rgba(0, 0, 0, 0)") {
                  holder = holder.parentElement;
                }
                return [getComputedStyle(node).color, getComputedStyle(holder).backgroundColor];
              })"""
        )
        for front, back in found:
            assert contrast(front, back) >= 4.5, (front, back)


def contrast(front, back):
    """The ratio of WCAG 2.1, 1.4.3."""

    def luminance(colour):
        channels = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    low, high = sorted((luminance(front), luminance(back)))
    return (high + 0.05) / (low + 0.05)
