"""The alignment viewer in a browser: its arithmetic, maps and lines, cards, stepping, playing."""

import re

import numpy as np
import pytest
from attnbook_testing.alignments import AFTER, BEFORE, examples, score, verdict
from attnbook_testing.widgets import viewer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_parts import DARK, colours, live, pictures, pixels, readout, rgb, ring_of, soon, use
from widget_rows import MODELS, VERDICTS, cards

from attnbook import plots
from attnbook.widgets import AlignmentViewer

MAP = ".al-panel:not([hidden]) canvas[tabindex]"


def step_of(page) -> str:
    return page.get_by_role("slider").input_value()


def go_to(page, step):
    page.get_by_role("slider").fill(str(step + 1))


def boxes(page) -> list[dict]:
    """Where the maps stand."""
    return [canvas.bounding_box() for canvas in page.locator(MAP).all()]


# The arithmetic


@st.composite
def rows(draw):
    """Weights with ties and zero rows, and links of both kinds."""
    q, k = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = st.lists(st.sampled_from([0.0, 0.25, 0.5]), min_size=q * k, max_size=q * k)
    marks = st.lists(st.sampled_from([0, 0, 1, 2]), min_size=q * k, max_size=q * k)
    return q, k, draw(cells), draw(marks)


@given(rows())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_verdicts_and_scores_of_any_weights(module, case):
    q, k, cells, marks = case
    found = module("alignment/data.js").evaluate(
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


# What the map draws


def place(page, i, j, panel=0) -> dict:
    """The place of a cell on its canvas, from the frame around it when it is pointed at."""
    canvas = page.locator(MAP).nth(panel)
    step = int(step_of(page)) - 1
    go_to(page, i)
    canvas.focus()
    for key in ("Home", *["ArrowRight"] * j):
        canvas.press(key)
    box = ring_of(page, panel)
    go_to(page, step)
    return box


def is_colour(part, colour) -> np.ndarray:
    return (np.abs(part[..., :3] - np.array(rgb(colour)[:3])).max(axis=-1) < 12) & (
        part[..., 3] > 250
    )


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
    page = show(small()).page
    sure, possible, bare, zero, pad = (pixels(page, place(page, 0, j), MAP) for j in range(5))
    middle = slice(sure.shape[1] // 4, 3 * sure.shape[1] // 4)

    def lines(part):
        """For each of the top lines of a cell: the share of gold, and that of dark ink."""
        top = part[:7, middle]
        return [(is_colour(x, plots.GOLD).mean(), is_colour(x, plots.INK).mean()) for x in top]

    assert any(gold == 1 for gold, _ in lines(sure)), "an unbroken bright line"
    assert not any(gold == 1 for gold, _ in lines(possible))
    assert any(gold > 0.2 and dark > 0.2 for gold, dark in lines(possible)), "dashes"
    assert not any(gold or dark for part in (bare, zero, pad) for gold, dark in lines(part))
    inner = (slice(8, 14), slice(8, -8))
    assert (zero[inner][..., 3] == 0).all(), "nothing is drawn"
    assert len(np.unique(pad[inner].reshape(-1, 4), axis=0)) > 5, "lines on a ground"
    assert len(np.unique(bare[inner].reshape(-1, 4), axis=0)) == 1
    legend = page.locator(".ah-legend").inner_text()
    assert "masked" in legend and "possible link" in legend
    bare = {"source_len": None, "possible": (), "sure": ()}
    text = show(small(**bare)).page.locator(".ah-legend").inner_text()
    assert "masked" not in text and "link" not in text, "only what there is"


def test_stepping_fades_the_rows_to_come_and_frames_the_step(show):
    page = show(small()).page
    places = [place(page, i, 2) for i in range(3)]

    def alphas():
        return [int(pixels(page, box, MAP)[10:14, 10:14, 3].max()) for box in places]

    assert alphas() == [255, 255, 255], "at the end nothing is faded"
    for step in (1, 0):
        use(page, "button", "Previous step")
        seen = alphas()
        assert seen[: step + 1] == [255] * (step + 1)
        assert all(40 <= alpha <= 60 for alpha in seen[step + 1 :])
        frame = page.locator(".ah-row").evaluate("(row) => row.style.transform")
        top = float(re.findall(r"[\d.]+", frame)[1])
        assert top == pytest.approx(places[0]["y"] + step * places[0]["h"], abs=0.6)
    back = page.get_by_role("button", name="Previous step")
    assert back.get_attribute("aria-disabled") == "true"
    back.click(force=True)
    assert step_of(page) == "1", "there is no step before the first"
    use(page, "button", "Next step")
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
            box = place(page, 0, j, panel)
            cut = {"x": box["x"] + 4, "y": box["y"] + 4, "w": 16, "h": 6}
            (found,) = colours(page, cut, f"{MAP} >> nth={panel}")
            assert np.abs(np.array(found[:3]) - 255 * np.array(ramp(weight / 0.9)[:3])).max() <= 3


def test_a_step_paints_what_a_fresh_widget_paints(show):
    """The whole map is painted once and copied for each step: no step may leave a trace."""
    widget = viewer(example=0, step=12)
    page = show(widget).page
    for n, step in ((1, None), (0, 3), (2, None), (3, None), (1, None)):
        if step is not None:
            go_to(page, step)
            widget.step = step
        page.get_by_role("combobox").select_option(str(n))
        widget.example = n
        assert step_of(page) == str(widget.step + 1), "it keeps the step as Python does"
    use(page, "radio", AFTER)
    go_to(page, 4)
    go_to(page, 1)
    fresh = show(viewer(example=1, model=AFTER, step=1)).page
    assert pictures(page) == pictures(fresh)


# Models and views


def test_two_maps_stand_side_by_side_where_there_is_room(show):
    page = show(viewer(side_by_side=True)).page
    first, second = boxes(page)
    assert first["y"] == second["y"] and first["x"] + first["width"] <= second["x"]
    assert (first["width"], first["height"]) == (second["width"], second["height"])
    page.set_viewport_size({"width": 360, "height": 800})

    def below(page=page):
        first, second = boxes(page)
        assert first["x"] == second["x"] and first["y"] + first["height"] <= second["y"]

    soon(page, below)
    below(show(viewer(example=3, side_by_side=True), width=704).page)


def paths(page, kind) -> list[dict]:
    return page.evaluate(
        """(kind) => [...document.querySelectorAll(`.al-links path${kind}`)].map((path) => ({
          i: Number(path.parentNode.dataset.target), j: Number(path.dataset.source),
          end: Number(path.getAttribute("d").split(" ").at(-2)),
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


def test_lines_end_in_the_middle_of_their_words_also_after_a_step(show):
    """The step's word is bold, so the words beside it move."""
    page = show(viewer(view="lines", step=6)).page
    middles = """() => [...document.querySelectorAll(".al-row:last-child .al-chip")].map(
      (node) => node.offsetLeft + node.offsetWidth / 2)"""
    for key in ("", "ArrowRight", "Home"):
        if key:
            page.locator(".al-chip[aria-checked=true]").first.press(key)
        at = page.evaluate(middles)
        for line in paths(page, ".al-weight"):
            assert line["end"] == at[line["i"]], (key, line)


def test_gold_lies_under_the_lines_solid_and_dashed(show):
    page = show(viewer(view="lines")).page
    example = examples()[0]
    for kind, hidden in (("sure", set()), ("possible", example["sure"])):
        drawn = paths(page, f".al-{kind}.al-bright")
        assert {(line["i"], line["j"]) for line in drawn} == set(example[kind]) - hidden
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

    def full():
        return {line["i"] for line in paths(page, ".al-weight") if line["opacity"] == 1}

    def faint():
        return {line["i"] for line in paths(page, "") if 0 < line["opacity"] < 0.1}

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
    assert step_of(page) == "8"
    assert page.evaluate("document.activeElement.textContent") == "rouge"
    assert full() == {7}
    words.nth(2).click()
    assert step_of(page) == "3"


# Pointer, voice, controls


def test_pointing_reads_a_cell_and_a_click_steps(show):
    widget = viewer(step=9, side_by_side=True)
    page = show(widget).page
    box = place(page, 3, 2)
    canvas = page.locator(MAP).first.bounding_box()
    before = live(page)
    x, y = canvas["x"] + box["x"] + 5, canvas["y"] + box["y"] + 5
    page.mouse.move(x, y)
    match = re.fullmatch(
        rf"“pas” → “not” \(sure\): {BEFORE} ([\d.]+), {AFTER} ([\d.]+)", readout(page)
    )
    wanted = [widget.weights(model)[3, 2] for model in MODELS]
    assert [float(text) for text in match.groups()] == pytest.approx(wanted, abs=0.00051)
    assert page.locator(".ah-ring:visible").count() == 2, "the cell is framed in both maps"
    page.mouse.move(x, y + 8 * box["h"])
    assert readout(page).endswith("not decoded yet")
    assert live(page) == before, "pointing is not announced"
    page.mouse.click(x, y + 8 * box["h"])
    assert step_of(page) == "12"


def test_only_what_can_be_chosen_is_there(show):
    page = show(AlignmentViewer(examples(1), model_labels=[BEFORE])).page
    assert page.locator("select").count() == 0
    assert page.get_by_role("radiogroup").count() == 1, "the view"
    assert not page.locator(".al-model").is_visible(), "the one model needs no name"
    page = show(viewer(controls=())).page
    assert page.locator(".al-model").first.inner_text() == BEFORE


def test_nothing_valid_is_said(show):
    one = {"source": ["<pad>"], "target": ["x"], "weights": {"m": [[0.0]]}, "source_len": 0}
    shown = show(AlignmentViewer([one]))
    page = shown.page
    (card,) = cards(page)
    assert card["verdict"] == VERDICTS["nothing"]
    assert card["where"] == "no weight, gold: no link"
    use(page, "radio", "Lines")
    page.locator("button.al-chip").hover()
    assert not page.get_by_role("button", name="Play").is_visible()
    assert not shown.faults


# Playing


@pytest.fixture
def clocked(show):
    """`clocked(widget)`: a page whose timers stand still until the test lets time pass."""

    def open_page(widget):
        page = show(widget, locale="en-US").page  # a context of its own: its clock stays
        page.clock.install()
        page.reload()
        page.locator(".attn-widget[data-widget=awake]").wait_for()
        page.clock.pause_at(4e9)
        return page

    return open_page


def press(page, name):
    page.get_by_role("button", name=name).press("Enter")


def test_play_steps_from_the_start_pauses_and_stops_at_the_end(clocked):
    page = clocked(viewer(example=1))
    press(page, "Play")
    assert step_of(page) == "1"
    page.clock.run_for(2300)
    assert step_of(page) == "3"
    press(page, "Pause")
    page.clock.run_for(5000)
    assert step_of(page) == "3"
    press(page, "Play")
    page.clock.run_for(20_000)
    assert step_of(page) == "6"
    assert page.get_by_role("button", name="Play").is_visible(), "it stops at the end"


def test_playing_stops_when_another_sentence_is_chosen(clocked):
    page = clocked(viewer())
    press(page, "Play")
    page.get_by_role("combobox").select_option("1")
    before = step_of(page)
    page.clock.run_for(5000)
    assert step_of(page) == before


def test_readers_who_want_no_motion_get_no_play(show):
    page = show(viewer(), reduced_motion="reduce").page
    assert page.get_by_role("button", name="Play").count() == 0
    use(page, "button", "Previous step")
    assert step_of(page) == "14"


# Where it stands


@pytest.mark.parametrize("view", ["map", "lines"])
def test_on_a_phone_a_long_sentence_scrolls_inside_the_widget_to_the_step(show, view):
    page = show(viewer(example=3, view=view, step=3), width=360).page
    frame = page.locator(".ah-map:visible, .al-lines:visible").first
    assert frame.evaluate("(node) => node.scrollWidth > node.clientWidth")
    for step in (3, 21, 11):
        go_to(page, step)
        if view == "lines":
            box = page.locator("button.al-chip").nth(step).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") == 360


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


def test_lines_follow_the_dark_theme(show):
    page = show(viewer(view="lines")).page
    stroke = "(all) => all.map((path) => path.getAttribute('stroke'))"
    light = page.locator(".al-weight").evaluate_all(stroke)
    page.evaluate(DARK["data-theme"][0])

    def other():
        dark = page.locator(".al-weight").evaluate_all(stroke)
        assert all(a != b for a, b in zip(light, dark, strict=True))

    soon(page, other)
