"""The alignment viewer in a browser: what it draws, says, and does, beside counts made apart."""

import re

import numpy as np
import pytest
from attnbook_testing.alignments import AFTER, BEFORE, examples, score, verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnbook import plots
from attnbook.widgets import AlignmentViewer, bundle

MODELS = (BEFORE, AFTER)
SAID = {
    "sure": "on a sure link",
    "possible": "on a possible link",
    "miss": "not on a gold link",
    "none": "no gold link to hit",
    "nothing": "nothing may be attended to",
}
LIVE = ".ah-hidden [aria-live]"


def viewer(**options):
    return AlignmentViewer(examples(), **options)


def live(page) -> str:
    return page.locator(LIVE).inner_text()


def said(page, text):
    """Wait until the live line holds `text`."""
    page.wait_for_function(
        "([at, text]) => document.querySelector(at).textContent.includes(text)",
        arg=[LIVE, text],
        timeout=3000,
    )


def readout(page) -> str:
    return page.locator(".ah-readout").inner_text()


def go_to(page, step):
    page.get_by_role("slider").fill(str(step + 1))


def choose(page, name):
    """A model or a view."""
    page.get_by_role("radio", name=name, exact=True).check()


# What a step says


def cards(page) -> list[dict]:
    """The texts of the cards that are shown."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".al-panel")].filter((p) => !p.hidden).map((p) => ({
          token: p.querySelector(".al-token b").textContent,
          where: p.querySelector(".al-where").textContent,
          verdict: p.querySelector(".al-verdict").textContent.slice(1),
          kind: p.querySelector(".al-verdict").dataset.verdict,
          candidates: [...p.querySelectorAll(".al-candidates .al-word")].map((w) => w.textContent),
          chosen: [...p.querySelectorAll(".al-chosen .al-word")].map((w) => w.textContent),
          scores: [...p.querySelectorAll(".al-score p:not(.al-note)")].map((s) => s.textContent),
        }))"""
    )


def gold_said(example, i) -> str:
    """The gold links of a token in words, from the example itself."""
    names = []
    for j, word in enumerate(example["source"]):
        if (i, j) in example["sure"]:
            names.append(f"“{word}”")
        elif (i, j) in example["possible"]:
            names.append(f"“{word}” (possible)")
    return f"gold: {', '.join(names) or 'no link'}"


def score_said(example, model, step, links) -> str:
    hits, of = score(example, model, step, links)
    percent = f" ({int(100 * hits / of + 0.5)}%)" if of else ""
    kinds = "sure" if links == "sure" else "sure or possible"
    return f"{hits} of {of}{percent} on a {kinds} link"


def assert_card(card, example, model, step):
    row = np.asarray(example["weights"][model])[step]
    assert card["token"] == example["target"][step]
    weight, where = re.match(r"([\d.]+) on (.*)", card["where"]).groups()
    assert float(weight) == pytest.approx(row.max(), abs=0.0051)
    assert where == f"“{example['source'][row.argmax()]}”, {gold_said(example, step)}"
    kind = verdict(example, model, step)
    assert (card["kind"], card["verdict"]) == (kind, SAID[kind])
    assert card["scores"] == [
        score_said(example, model, step, links)
        for links in ("sure", "possible")
        if links == "sure" or example["possible"]
    ]
    tokens = [token for token, _ in example["candidates"][model][step]]
    assert card["candidates"] == tokens[:3]
    assert card["chosen"] == [token for token in tokens[:3] if token == example["target"][step]]


def test_each_step_of_each_example_and_model_is_counted_as_apart(show):
    """The whole walk: where the weight went, the verdict and the score, beside plain loops."""
    shown = show(viewer(side_by_side=True))
    page = shown.page
    seen = set()
    for n, example in enumerate(examples()):
        page.get_by_role("combobox").select_option(str(n))
        for step in range(len(example["target"])):
            go_to(page, step)
            for card, model in zip(cards(page), MODELS, strict=True):
                assert_card(card, example, model, step)
                seen.add(card["kind"])
    assert seen == {"sure", "possible", "miss", "none"}, "every verdict came up"
    assert not shown.faults


@st.composite
def rows(draw):
    """Weights with ties and zero rows, and links of both kinds."""
    q, k = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=q * k, max_size=q * k)
    marks = st.lists(st.sampled_from([0, 0, 1, 2]), min_size=q * k, max_size=q * k)
    return q, k, draw(cells), draw(marks)


@pytest.fixture(scope="module")
def arithmetic(browser):
    page = browser.new_page()
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
          window.arithmetic = await import(url);
        }""",
        bundle.join("alignment/data.js"),
    )
    yield page
    page.close()


@given(rows())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_verdicts_and_scores_of_any_weights(arithmetic, case):
    q, k, cells, marks = case
    found = arithmetic.evaluate(
        """([q, k, cells, marks]) => {
          const { takeStep, takeScore } = window.arithmetic;
          const kind = (n) => Uint8Array.from(marks, (mark) => Number(n.includes(mark)));
          const picture = { weights: Float64Array.from(cells), keys: k,
            gold: kind([1]), possible: kind([2]), either: kind([1, 2]) };
          return Array.from({ length: q }, (_, i) => [takeStep(picture, i).verdict,
            ...Object.values(takeScore(picture, i)).map(({ hits, marked }) => [hits, marked])]);
        }""",
        [q, k, cells, marks],
    )
    links = [[(n // k, n % k) for n, mark in enumerate(marks) if mark == kind] for kind in (1, 2)]
    example = {"weights": {"m": np.reshape(cells, (q, k))}, "sure": links[0], "possible": links[1]}
    for i, (kind, sure, possible) in enumerate(found):
        assert kind == verdict(example, "m", i)
        assert tuple(sure) == score(example, "m", i, "sure")
        assert tuple(possible) == score(example, "m", i, "possible")


def test_it_keeps_the_step_as_python_does(show):
    widget = viewer(example=0, step=12)
    page = show(widget).page
    for n, step in ((1, None), (0, 3), (2, None), (3, None), (1, None)):
        if step is not None:
            go_to(page, step)
            widget.step = step
        page.get_by_role("combobox").select_option(str(n))
        widget.example = n
        assert page.get_by_role("slider").input_value() == str(widget.step + 1)


# What the map draws


def cell_box(page, widget, i, j, panel=0) -> dict:
    """The place of a cell on its canvas, from the frame around it when it is pointed at."""
    canvas = page.locator(".al-panel:not([hidden]) canvas[tabindex]").nth(panel)
    step = int(page.get_by_role("slider").input_value()) - 1
    go_to(page, i)
    canvas.focus()
    canvas.press("Home")
    for _ in range(j):
        canvas.press("ArrowRight")
    box = page.locator(".al-panel:not([hidden]) .ah-ring").nth(panel).evaluate(
        """(ring) => ({ x: Number(ring.style.transform.match(/[\\d.]+/g)[0]),
          y: Number(ring.style.transform.match(/[\\d.]+/g)[1]),
          w: parseFloat(ring.style.width), h: parseFloat(ring.style.height) })"""
    )  # fmt: skip
    go_to(page, step)
    return box


def pixels(page, box, panel=0) -> np.ndarray:
    """(height, width, 4) of a place on a canvas."""
    data = page.locator(".al-panel:not([hidden]) canvas[tabindex]").nth(panel).evaluate(
        """(canvas, { x, y, w, h }) => {
          const part = canvas.getContext("2d").getImageData(x, y, w, h);
          return { data: [...part.data], shape: [part.height, part.width, 4] };
        }""",
        box,
    )  # fmt: skip
    return np.array(data["data"]).reshape(data["shape"])


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def is_colour(part, colour) -> np.ndarray:
    return (np.abs(part[..., :3] - np.array(rgb(colour))).max(axis=-1) < 12) & (part[..., 3] > 250)


def small(**changes):
    """Three equal rows: a sure link, a possible one, none, a weight of zero, padding."""
    row = [0.4, 0.4, 0.2, 0.0, 0.0]
    example = {
        "source": [*"abcd", "<pad>"],
        "target": ["x", "y", "z"],
        "weights": {"m": [row] * 3},
        "sure": {(i, 0) for i in range(3)},
        "possible": {(i, 1) for i in range(3)},
        "source_len": 4,
    }
    return AlignmentViewer([example | changes])


def test_links_are_outlined_solid_and_dashed_zero_is_blank_padding_is_hatched(show):
    widget = small()
    page = show(widget).page
    sure, possible, bare, zero, pad = (pixels(page, cell_box(page, widget, 0, j)) for j in range(5))
    middle = slice(sure.shape[1] // 4, 3 * sure.shape[1] // 4)

    def lines(part):
        """For each of the top lines of a cell: the share of gold, and that of dark ink."""
        top = part[:7, middle]
        return [(is_colour(line, plots.GOLD).mean(), is_colour(line, plots.INK).mean())
                for line in top]  # fmt: skip

    assert any(gold == 1 for gold, _ in lines(sure)), "an unbroken bright line"
    assert not any(gold == 1 for gold, _ in lines(possible))
    assert any(gold > 0.2 and dark > 0.2 for gold, dark in lines(possible)), "dashes"
    assert not any(gold or dark for part in (bare, zero, pad) for gold, dark in lines(part))
    inner = (slice(8, 14), slice(8, -8))
    assert (zero[inner][..., 3] == 0).all(), "nothing is drawn"
    assert len(np.unique(pad[inner].reshape(-1, 4), axis=0)) > 5, "lines on a ground"
    assert len(np.unique(bare[inner].reshape(-1, 4), axis=0)) == 1


def test_padding_and_links_are_in_the_legend_only_where_there_are_some(show):
    legend = show(small()).page.locator(".ah-legend")
    assert "masked (padding)" in legend.inner_text() and "possible link" in legend.inner_text()
    bare = {"source_len": None, "possible": (), "sure": ()}
    text = show(small(**bare)).page.locator(".ah-legend").inner_text()
    assert "masked" not in text and "link" not in text


def test_stepping_fades_the_rows_to_come_and_frames_the_step(show):
    widget = small()
    page = show(widget).page
    boxes = [cell_box(page, widget, i, 2) for i in range(3)]

    def alphas():
        return [int(pixels(page, box)[10:14, 10:14, 3].max()) for box in boxes]

    assert alphas() == [255, 255, 255], "at the end nothing is faded"
    for step in (1, 0):
        page.get_by_role("button", name="Previous step").click()
        seen = alphas()
        assert seen[: step + 1] == [255] * (step + 1)
        assert all(40 <= alpha <= 60 for alpha in seen[step + 1 :])
        frame = page.locator(".ah-row").evaluate("(row) => row.style.transform")
        top, high = float(re.findall(r"[\d.]+", frame)[1]), boxes[0]["h"]
        assert top == pytest.approx(boxes[0]["y"] + step * high, abs=0.6)
    assert page.get_by_role("button", name="Previous step").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Previous step").click(force=True)
    assert page.get_by_role("slider").input_value() == "1", "there is no step before the first"
    page.get_by_role("button", name="Next step").click()
    assert alphas()[:2] == [255, 255]


def test_all_models_share_one_scale(show):
    """Equal weights have equal colours in both maps: those of the ramp for this weight."""
    row = {"low": [0.2, 0.8, 0.0], "high": [0.8, 0.2, 0.0]}
    example = {"source": list("abc"), "target": ["x"] * 3, "sure": ()}
    weights = {name: [value] * 3 for name, value in row.items()}
    widget = AlignmentViewer([example | {"weights": weights}], side_by_side=True, vmax=0.9)
    page = show(widget).page
    ramp = plots.colormap()
    for panel, name in enumerate(row):
        for j, weight in enumerate(row[name][:2]):
            inner = pixels(page, cell_box(page, widget, 0, j, panel), panel)[4:10, 4:20]
            wanted = np.array(ramp(weight / 0.9)[:3]) * 255
            assert np.abs(inner[..., :3].reshape(-1, 3) - wanted).max() <= 3


def test_a_step_paints_what_a_fresh_widget_paints(show):
    """The whole map is painted once and copied for each step: no step may leave a trace."""
    page = show(viewer()).page
    go_to(page, 2)
    page.get_by_role("combobox").select_option("1")
    choose(page, AFTER)
    go_to(page, 4)
    go_to(page, 1)
    fresh = show(viewer(example=1, model=AFTER, step=1)).page
    take = "() => [...document.querySelectorAll('.al-panel:not([hidden]) canvas')][0].toDataURL()"
    assert page.evaluate(take) == fresh.evaluate(take)


# Models and views


def table(page) -> list[list[list[str]]]:
    page.wait_for_timeout(250)  # it is written a moment after a change
    return page.evaluate(
        """() => [...document.querySelectorAll(".ah-hidden table")].filter((t) => !t.hidden).map(
          (t) => [...t.querySelectorAll("tr")].slice(1).map(
            (row) => [...row.children].map((cell) => cell.textContent)))"""
    )


def assert_table(rows, example, model):
    assert [row[0] for row in rows] == example["target"]
    for i, (_, strongest, gold, where) in enumerate(rows):
        order = np.argsort(-np.asarray(example["weights"][model])[i], kind="stable")[:3]
        found = re.findall(r"(\S+) (?:< )?([\d.]+)(?: \((\w+)\))?(?:, |$)", strongest)
        for (name, weight, mark), j in zip(found, order, strict=True):
            assert name == example["source"][j]
            assert float(weight) == pytest.approx(example["weights"][model][i, j], abs=0.0011)
            kinds = [kind for kind in ("sure", "possible") if (i, j) in example[kind]]
            assert mark == (kinds[0] if kinds else "")
        assert f"gold: {gold}" == gold_said(example, i)
        assert where == SAID[verdict(example, model, i)]


def test_models_are_flipped_and_stand_side_by_side(show):
    page = show(viewer()).page
    example = examples()[0]
    for label in (AFTER, BEFORE):
        choose(page, label)
        (rows,) = table(page)
        assert_table(rows, example, label)
        assert page.locator(".al-panel:visible").count() == 1
    choose(page, "Side by side")
    both = table(page)
    for rows, model in zip(both, MODELS, strict=True):
        assert_table(rows, example, model)
    assert page.locator(".al-model:visible").all_inner_texts() == list(MODELS)
    first, second = (
        page.locator(".al-panel canvas[tabindex]").nth(n).bounding_box() for n in (0, 1)
    )
    assert first["y"] == second["y"] and first["x"] + first["width"] <= second["x"]
    assert (first["width"], first["height"]) == (second["width"], second["height"])


def test_maps_too_wide_to_stand_side_by_side_stand_one_below_the_other(show):
    page = show(viewer(example=3, side_by_side=True), width=704).page
    first, second = (
        page.locator(".al-panel canvas[tabindex]").nth(n).bounding_box() for n in (0, 1)
    )
    assert first["x"] == second["x"] and first["y"] + first["height"] <= second["y"]


def paths(page, kind) -> list[dict]:
    return page.evaluate(
        """(kind) => [...document.querySelectorAll(`.al-links path${kind}`)].map((path) => ({
          i: Number(path.parentNode.dataset.target), j: Number(path.dataset.source),
          width: parseFloat(getComputedStyle(path).strokeWidth),
          seen: getComputedStyle(path.parentNode).display !== "none",
          opacity: Number(getComputedStyle(path.parentNode).opacity),
          dashed: getComputedStyle(path).strokeDasharray !== "none",
        }))""",
        kind,
    )


def test_lines_are_as_wide_as_their_weights_and_only_of_words_decoded(show):
    widget = viewer(view="lines", step=6)
    page = show(widget).page
    weights = widget.weights()
    lines = paths(page, ".al-weight")
    wanted = {(int(i), int(j)) for i, j in np.argwhere(weights >= 0.02)}
    assert {(line["i"], line["j"]) for line in lines} == wanted
    for line in lines:
        assert line["width"] == pytest.approx(0.75 + 7.25 * weights[line["i"], line["j"]], abs=0.01)
        assert line["seen"] == (line["i"] <= 6)
        assert line["i"] > 6 or (line["opacity"] == 1) == (line["i"] == 6)


def test_gold_lies_under_the_lines_solid_and_dashed(show):
    page = show(viewer(view="lines")).page
    example = examples()[0]
    for kind, links in (("sure", example["sure"]), ("possible", example["possible"])):
        drawn = paths(page, f".al-{kind}.al-bright")
        assert {(line["i"], line["j"]) for line in drawn} == set(links) - (
            set() if kind == "sure" else example["sure"]
        )
        assert all(line["dashed"] == (kind == "possible") for line in drawn)
    assert page.evaluate(
        """() => {
          const all = [...document.querySelectorAll(".al-links path")];
          const weight = all.findIndex((path) => path.classList.contains("al-weight"));
          return all.every((p, n) => p.classList.contains("al-weight") === (n >= weight));
        }"""
    )


def test_a_word_pointed_at_or_focused_shows_its_lines_alone(show):
    page = show(viewer(view="lines", step=8)).page
    words = page.locator("button.al-chip")
    full = lambda: {line["i"] for line in paths(page, ".al-weight") if line["opacity"] == 1}  # noqa: E731
    faint = lambda: {line["i"] for line in paths(page, "") if 0 < line["opacity"] < 0.1}  # noqa: E731
    words.nth(3).hover()
    assert full() == {3} and {0, 1, 2, 4, 8} <= faint()
    row = np.asarray(examples()[0]["weights"][BEFORE])[3]
    best = examples()[0]["source"][row.argmax()]
    assert re.match(rf"“pas”: [\d.]+ on “{re.escape(best)}”, gold: “not”; ", readout(page))
    words.nth(11).hover()
    assert readout(page) == "“achetée”: not decoded yet"
    page.mouse.move(2, 2)
    assert full() == {8} and not faint()
    assert readout(page).startswith("Point at a target word")
    page.get_by_role("slider").focus()
    page.keyboard.press("Tab")  # into the words, past the other step button
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "que"
    assert full() == {8} and 3 in faint()
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("slider").input_value() == "8"
    assert page.evaluate("document.activeElement.textContent") == "rouge"
    assert full() == {7}
    words.nth(2).click()
    assert page.get_by_role("slider").input_value() == "3"


def test_the_view_changes_and_nothing_else_does(show):
    page = show(viewer(step=4)).page
    card = cards(page)
    choose(page, "Lines")
    assert (
        page.locator(".al-lines").first.is_visible()
        and not page.locator(".ah-map").first.is_visible()
    )
    assert cards(page) == card
    choose(page, "Heat map")
    assert page.locator(".ah-map").first.is_visible() and cards(page) == card


# Keys, pointer, voice


def test_keys_on_the_map_step_and_read_the_row(show):
    widget = viewer(step=4)
    page = show(widget, height=300).page
    canvas = page.locator(".al-panel:not([hidden]) canvas[tabindex]")
    assert live(page) == ""
    canvas.focus()
    example = examples()[0]
    keys = ["ArrowDown", "ArrowDown", "ArrowUp", "PageDown", "ArrowDown", "PageUp", "ArrowUp"]
    for key, step in zip([*keys, "ArrowDown"], (5, 6, 5, 14, 14, 0, 0, 1), strict=True):
        scrolled = page.evaluate("scrollY")
        canvas.press(key)
        assert page.evaluate("scrollY") == scrolled, "the page does not move"
        assert page.get_by_role("slider").input_value() == str(step + 1)
        hits, of = score(example, BEFORE, step, "sure")
        assert live(page).startswith(
            f"Step {step + 1} of 15. {BEFORE}: “{example['target'][step]}”"
        )
        assert f"argmax so far: {hits} of {of} on a sure link" in live(page)
    weights = widget.weights()[1]
    keys = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"]
    for key, j in zip(keys, (0, 1, 2, 1, 0, 0, 14), strict=True):
        canvas.press(key)
        mark = {2: " (sure)"}.get(j, "")
        head = f"“n'” → “{example['source'][j]}”{mark}: "
        assert live(page).startswith(head), key
        if j == 14:
            assert live(page) == f"{head}masked, padding"
        else:
            assert float(live(page).split()[-1]) == pytest.approx(weights[j], abs=0.00051)


def test_keys_with_ctrl_are_left_to_the_browser(show):
    page = show(viewer(step=4)).page
    canvas = page.locator(".al-panel:not([hidden]) canvas[tabindex]")
    canvas.focus()
    canvas.press("Control+ArrowDown")
    assert page.get_by_role("slider").input_value() == "5"


def test_pointing_reads_a_cell_and_a_click_steps(show):
    widget = viewer(step=9, side_by_side=True)
    page = show(widget).page
    box = cell_box(page, widget, 3, 2)
    canvas = page.locator("canvas[tabindex]").first.bounding_box()
    said_before = live(page)
    page.mouse.move(canvas["x"] + box["x"] + 5, canvas["y"] + box["y"] + 5)
    match = re.fullmatch(
        rf"“pas” → “not” \(sure\): {BEFORE} ([\d.]+), {AFTER} ([\d.]+)", readout(page)
    )
    wanted = [widget.weights(model)[3, 2] for model in MODELS]
    assert [float(text) for text in match.groups()] == pytest.approx(wanted, abs=0.00051)
    assert page.locator(".ah-ring:visible").count() == 2, "the cell is framed in both maps"
    later = canvas["y"] + box["y"] + 5 + 8 * box["h"]
    page.mouse.move(canvas["x"] + box["x"] + 5, later)
    assert readout(page).endswith("not decoded yet")
    assert live(page) == said_before, "pointing is not announced"
    page.mouse.click(canvas["x"] + box["x"] + 5, later)
    assert page.get_by_role("slider").input_value() == "12"


def test_a_changed_setting_is_announced_when_it_rests(show):
    page = show(viewer()).page
    page.get_by_role("combobox").select_option("1")
    said(page, "Step 6 of 6.")
    choose(page, "Side by side")
    said(page, f"{AFTER}: “<eos>”")


def test_every_control_has_a_name(show):
    page = show(viewer(side_by_side=True)).page
    names = page.evaluate(
        """() => [...document.querySelectorAll("input, select")].map(
          (input) => input.labels[0]?.textContent.trim() ?? "")"""
    )
    assert len(names) == 7 and all(names)
    for role, count in (("button", 3), ("slider", 1), ("combobox", 1), ("radiogroup", 2)):
        found = page.get_by_role(role)
        assert found.count() == count, role
        for node in found.all():
            name = (
                node.get_attribute("aria-label")
                or node.inner_text()
                or node.evaluate("(node) => node.labels[0].textContent")
            )
            assert name.strip()
    for canvas in page.locator("canvas[tabindex]").all():
        assert canvas.get_attribute("aria-label") == viewer().alt
        assert canvas.get_attribute("role") == "application"


def test_only_what_can_be_chosen_is_there(show):
    page = show(AlignmentViewer(examples(1), model_labels=[BEFORE])).page
    assert page.locator("select").count() == 0
    assert page.get_by_role("radiogroup").count() == 1, "the view"
    assert not page.locator(".al-model").is_visible(), "the one model needs no name"
    page = show(viewer(controls=())).page
    assert page.locator("input, select, .ah-button:visible").count() == 0
    assert page.locator(".al-model").first.inner_text() == BEFORE


# Playing


def test_play_steps_from_the_start_and_pauses(show):
    page = show(viewer(example=1)).page
    slider = page.get_by_role("slider")
    page.get_by_role("button", name="Play").click()
    assert slider.input_value() == "1"
    page.wait_for_function("document.querySelector('input[type=range]').value === '3'")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(1500)
    assert slider.input_value() == "3"
    page.get_by_role("button", name="Play").click()
    assert slider.input_value() == "4"
    page.wait_for_function("document.querySelector('input[type=range]').value === '6'")
    assert page.get_by_role("button", name="Play").is_visible(), "it stops at the end"


def test_playing_stops_when_another_sentence_is_chosen(show):
    page = show(viewer()).page
    page.get_by_role("button", name="Play").click()
    page.get_by_role("combobox").select_option("1")
    before = page.get_by_role("slider").input_value()
    page.wait_for_timeout(1500)
    assert page.get_by_role("slider").input_value() == before


def test_readers_who_want_no_motion_get_no_play(show):
    page = show(viewer(), reduced_motion="reduce").page
    assert page.get_by_role("button", name="Play").count() == 0
    page.get_by_role("button", name="Previous step").click()
    assert page.get_by_role("slider").input_value() == "14"


# Where it stands


@pytest.mark.parametrize("view", ["map", "lines"])
@pytest.mark.parametrize("side_by_side", [False, True])
def test_it_fits_a_phone(show, view, side_by_side):
    """The page never scrolls sideways; a long sentence scrolls inside the widget, to the step."""
    page = show(viewer(example=3, view=view, side_by_side=side_by_side, step=3), width=360).page
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    frame = page.locator(".ah-map:visible, .al-lines:visible").first
    assert frame.evaluate("(node) => node.scrollWidth > node.clientWidth")
    for step in (3, 21, 11):
        go_to(page, step)
        if view == "lines":
            box = page.locator("button.al-chip").nth(step).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    short = show(viewer(example=1, view=view), width=360).page
    assert short.evaluate("document.documentElement.scrollWidth") == 360


def test_row_labels_stay_where_a_map_scrolls(show):
    page = show(viewer(example=3), width=360).page
    frame = page.locator(".ah-map:visible")
    assert frame.evaluate("(node) => node.scrollLeft") > 0, "the last step looks at the end"
    gutter, map_ = page.locator(".al-gutter:visible").bounding_box(), frame.bounding_box()
    assert gutter["x"] == pytest.approx(map_["x"], abs=1) and gutter["width"] < 110
    inked = page.locator(".al-gutter:visible").evaluate(
        """(node) => node.getContext("2d").getImageData(0, 0, node.width, node.height)
             .data.some((value, n) => n % 4 === 3 && value === 255)"""
    )
    assert inked
    go_to(page, 0)
    assert frame.evaluate("(node) => node.scrollLeft") == 0
    wide = show(viewer(example=3), width=1280).page
    assert wide.locator(".al-gutter:visible").count() == 0


@pytest.mark.parametrize("mark", ["data-theme", "jupyter", "system"])
@pytest.mark.parametrize("view", ["map", "lines"])
def test_it_follows_the_dark_theme(show, mark, view):
    page = show(viewer(view=view)).page
    take = """() => document.querySelector(".al-panel:not([hidden]) canvas").toDataURL()
      + [...document.querySelectorAll(".al-weight")].map((path) => path.getAttribute("stroke"))"""
    light = page.evaluate(take)
    if mark == "data-theme":
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
    elif mark == "jupyter":
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    else:
        page.emulate_media(color_scheme="dark")
    page.wait_for_selector(".attn-align[data-theme=dark]")
    page.wait_for_timeout(100)
    assert page.evaluate(take) != light


def luminance(colour) -> float:
    parts = [float(n) / 255 for n in re.findall(r"[\d.]+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize(("theme", "ground"), [("light", "rgb(255,255,255)"), ("dark", "#14181e")])
def test_text_stands_out(show, theme, ground):
    """Every colour of text has a contrast of 4.5 to 1 or more with the page."""
    page = show(viewer(view="lines", step=6), theme=theme).page
    colours = page.evaluate(
        """() => Object.fromEntries([".al-token b", ".al-note", ".al-where", ".al-verdict",
          ".al-number", "button.al-chip", "button.al-chip.al-later", ".ah-readout", ".ah-legend",
        ].map((at) => [at, getComputedStyle(document.querySelector(at)).color]))"""
    )
    back = luminance(ground if ground.startswith("rgb") else str(rgb(ground)))
    for at, colour in colours.items():
        low, high = sorted([luminance(colour), back])
        assert (high + 0.05) / (low + 0.05) >= 4.5, at


@pytest.mark.parametrize("ratio", [1, 1.5, 2])
def test_the_canvases_are_sharp(show, ratio):
    page = show(viewer(), device_scale_factor=ratio).page
    drawn, shown = page.locator(".al-panel:not([hidden]) canvas[tabindex]").evaluate(
        "(c) => [c.width, c.getBoundingClientRect().width]"
    )
    assert drawn == pytest.approx(ratio * shown, abs=1)


def test_labels_are_text_not_markup(show):
    word = '<img src="nowhere.png">'
    example = {"source": [word], "target": [word], "weights": {word: [[1.0]]}, "name": word}
    steps = {"classes": [word], "candidates": {word: [[(word, 1.0)]]}, "sure": {(0, 0)}}
    for view in ("map", "lines"):
        shown = show(AlignmentViewer([example | steps] * 2, title=word, alt=word, view=view))
        page = shown.page
        page.locator("canvas[tabindex], button.al-chip").locator("visible=true").first.focus()
        page.wait_for_timeout(250)
        assert page.locator(".attn-align img").count() == 0
        assert page.locator(".al-token b").inner_text() == word and not shown.faults


def test_one_token_and_nothing_valid_do_not_fail(show):
    one = {"source": ["<pad>"], "target": ["x"], "weights": {"m": [[0.0]]}, "source_len": 0}
    shown = show(AlignmentViewer([one]))
    page = shown.page
    assert cards(page)[0]["verdict"] == SAID["nothing"]
    assert cards(page)[0]["where"] == "no weight, gold: no link"
    choose(page, "Lines")
    page.locator("button.al-chip").hover()
    assert not page.get_by_role("button", name="Play").is_visible()
    assert not shown.faults


def test_two_views_of_one_model_move_together(show):
    widget = viewer()
    page = show(widget, widget).page
    page.get_by_role("slider").first.fill("4")
    assert page.get_by_role("slider").nth(1).input_value() == "4"
    first, second = page.locator(".al-panel:visible .al-token b").all_inner_texts()
    assert first == second == "pas"


def test_a_narrower_page_is_filled_anew(show):
    page = show(viewer(side_by_side=True)).page
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(150)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    first, second = (
        page.locator(".al-panel canvas[tabindex]").nth(n).bounding_box() for n in (0, 1)
    )
    assert first["y"] + first["height"] <= second["y"]
