"""What every widget must do, from what its class declares, and, where it has a row, from Python.

A widget is here because it has a folder, and is shown as the book's pages have saved it.
"""

import copy
from types import SimpleNamespace

import pytest
from attnbook_testing.book_widgets import NAMES, SAVED, moved, others, settings_of
from page_parts import DARK, live, pictures, soon, use
from site_checks import complaints
from widget_rows import ROWS, large, odd, shows, tells

from attnbook.widgets.settings import Choice

WORD = '<img src="nowhere.png">'  # a label that must not become markup
each = pytest.mark.parametrize("name", NAMES)
rows = pytest.mark.parametrize("name", ROWS)


def look(page, at=0) -> list:
    """What is drawn, what stands in the controls, and all text in sight or heard."""
    text = """(box) => [[...box.querySelector(".attn-heatmap").children]
      .filter((part) => !part.classList.contains("ah-hidden")).map((part) => part.innerText),
      ...[...box.querySelectorAll("input, select")].map(
      (node) => [node.value, node.checked, node.checkVisibility()]),
      ...[...box.querySelectorAll("table")].map((table) => table.textContent)]"""
    box = page.locator(".attn-widget").nth(at)
    return [pictures(page, f".attn-widget >> nth={at}"), box.evaluate(text)]


def use_setting(page, name, trait, value, before) -> None:
    """Move the control of a setting to a value, as a reader does."""
    least = settings_of(name)[trait].values(SimpleNamespace(**SAVED[name]["state"] | before))[0]
    setting = settings_of(name)[trait]
    form = setting.form()
    when, *needed = form.get("when", [None])
    if when and before[when] not in needed:
        use(page, "combobox", settings_of(name)[when].form()["label"], needed[0])
    if "switch" in form:
        use(page, "checkbox", form["label"])
    elif "beside" in form:
        use(page, "radio", form["words"][value])
    elif "words" in form or "names" in form or "list" in form:
        use(page, "combobox", form["label"], str(value))
    elif "sizes" in form and value in form["sizes"]:
        slider = page.get_by_role("slider", name=form["label"], exact=True)
        slider.fill(str(form["sizes"].index(value)))
    else:
        use(page, "slider", form["label"], "Home" if value == least else "End")


@each
def test_settings_move_from_both_sides(show, name):
    """Each control moves its trait; a widget that is saved so looks the same; Reset goes back."""
    model = SAVED[name]
    traits = [trait for trait in settings_of(name) if trait in model["state"]]
    shown = show(model)
    page = shown.page
    now = f"() => Object.fromEntries({traits}.map((name) => [name, window.traits[0][name]]))"
    first = before = look(page)
    looks, states = [], []
    for trait, value in others(name, model["state"]):
        use_setting(page, name, trait, value, page.evaluate(now))
        state = page.evaluate(now)
        if state[trait] is not None:  # as the top of a slider may be
            assert state[trait] == (value if isinstance(value, str) else pytest.approx(value))
        assert look(page) != before, f"{trait} changes nothing that is seen"
        for one in settings_of(name).values():  # a control is there while it counts for something
            label, (when, *needed) = one.form().get("label"), one.form().get("when", [None])
            if when:
                role = "radiogroup" if isinstance(one, Choice) else "slider"
                control = page.get_by_role(role, name=label, exact=True)
                assert control.count() == (state[when] in needed)
        page.wait_for_timeout(200)  # tables are written
        before = look(page)
        if name != "AttentionHeatmap":  # which speaks of what is pointed at
            assert live(page), f"{trait} is not announced"
        looks.append(before)
        states.append(moved(model, **state))
    assert states and complaints(page) == []
    reset = page.get_by_role("button", name="Reset")
    if reset.count():
        reset.click()
        page.wait_for_timeout(200)
        assert look(page)[0] == first[0]
        assert page.evaluate(now) == {trait: model["state"][trait] for trait in traits}
    assert not shown.faults
    again = show(*states)
    again.page.wait_for_timeout(200)
    for n, wanted in enumerate(looks):
        assert look(again.page, n) == wanted, (n, states[n]["state"])
    assert not again.faults


@rows
def test_it_shows_what_python_computes(show, name):
    """At every value of every setting, and what its own controls lead to."""
    row = ROWS[name]
    widgets = [row.make(), *(row.make(**state) for state in row.states)]
    for trait, setting in widgets[0]._settings.items():
        for value in setting.others(widgets[0]) if setting.form().get("label") else []:
            widgets.append(row.make())
            setattr(widgets[-1], trait, value)
    shown = show(*widgets)
    for n, widget in enumerate(widgets):
        soon(shown.page, shows, shown.page, widget, n)
    assert not shown.faults
    widget = row.make()
    page = show(widget).page
    for role, control, value, traits in row.moves:
        use(page, role, control, value)
        for trait, to in traits.items():
            setattr(widget, trait, to)
        soon(page, shows, page, widget)
    if row.reset:
        use(page, "button", row.reset)
        soon(page, shows, page, row.make())


@rows
def test_keys_move_what_is_marked_and_are_announced(show, name):
    row, widget = ROWS[name], ROWS[name].make()
    page = show(widget, height=400, style="body { min-height: 4000px }").page
    part = page.locator(row.focus).locator("visible=true").first
    assert live(page) == "", "nothing is said before the reader comes"
    part.focus()
    start = page.evaluate("scrollY")
    for key, heard in row.keys:
        if key:
            part.press(key)
        if isinstance(heard, str):
            assert live(page).startswith(heard), (key, live(page))
            continue
        for trait, value in heard.items():
            setattr(widget, trait, value)
        tells(live(page), row.reads(widget))
    assert page.evaluate("scrollY") == start, "the page does not move"
    before = live(page)
    for key in ("ArrowUp", "ArrowLeft"):
        part.press(f"Control+{key}")
        assert live(page) == before, "keys with Ctrl are the browser's"


@each
def test_it_is_sharp_and_follows_theme_and_width(show, name):
    dark = "@media (prefers-color-scheme: dark) { body { background: #14181e; color: #ccc } }"
    page = show(SAVED[name], style=dark, device_scale_factor=1.5).page
    for canvas in page.locator("canvas:visible").all():
        drawn, shown = canvas.evaluate("(c) => [c.width, c.getBoundingClientRect().width]")
        assert drawn == pytest.approx(1.5 * shown, abs=1)
    wide = maps(page)
    page.set_viewport_size({"width": 360, "height": 900})
    soon(page, fits, page)
    page.set_viewport_size({"width": 1280, "height": 900})

    def is_wide():
        assert maps(page) == wide

    soon(page, is_wide)
    light = pictures(page)

    def is_light():
        assert pictures(page) == light

    def is_dark():
        assert all(a != b for a, b in zip(light, pictures(page), strict=True))

    for on, off in DARK.values():
        page.evaluate(on)
        soon(page, is_dark)
        page.evaluate(off)
        soon(page, is_light)
    page.emulate_media(color_scheme="dark")
    soon(page, is_dark)
    assert complaints(page, "color-contrast") == []


def maps(page) -> list[str]:
    """The canvases alone."""
    return [picture for picture in pictures(page) if picture.startswith("data:")]


def fits(page):
    """Nothing makes the page wider than a phone, and no control is cut."""
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".attn-widget :is(input, select, p, button, div)")]
          .filter((node) => !node.closest(".ah-map, .al-lines, .ab-scroll, .ah-hidden"))
          .map((node) => [node.className, node.getBoundingClientRect()])
          .filter(([, box]) => box.width && (box.left < 0 || box.right > 360.5))
          .map(([name]) => name)"""
    )
    assert cut == []
    assert page.locator("canvas:visible, .al-lines:visible").count()


def test_the_largest_fit_a_phone(show):
    shown = show(*large(), width=360, theme="dark")
    fits(shown.page)
    assert not shown.faults


def press_through(page, focus):
    for node in page.locator(focus).locator("visible=true").all():
        node.focus()
        for key in ("ArrowRight", "End", "Enter"):
            node.press(key)
    page.wait_for_timeout(200)  # tables are written


def test_those_with_nothing_or_one_of_everything_do_not_fail(show):
    shown = show(*odd())
    press_through(shown.page, "canvas[tabindex], .ab-output")
    awake = shown.page.locator(".attn-widget[data-widget=awake]").count()
    assert awake == len(odd()) and not shown.faults


def with_markup(value, fixed):
    """Every text that is no choice of the widget's own, as markup."""
    if isinstance(value, list):
        return [with_markup(one, fixed) for one in value]
    if isinstance(value, dict):
        return {key: with_markup(one, fixed) for key, one in value.items()}
    return WORD if isinstance(value, str) and value not in fixed else value


@each
def test_labels_are_text_never_markup(show, name):
    model = copy.deepcopy(SAVED[name])
    state, settings = model["state"], settings_of(name)
    fixed = {word for one in settings.values() for word in one.form().get("words", ())}
    fixed |= {"first", "second", "difference"}
    for trait, value in state.items():
        known = trait in settings and not isinstance(value, str)
        if not known and not trait.startswith(("_anywidget", "_model", "_view", "_esm", "_css")):
            state[trait] = with_markup(value, fixed)
    shown = show(model)
    press_through(shown.page, "canvas[tabindex], .ab-output")
    box = shown.page.locator(".attn-widget")
    assert WORD in box.inner_text() and box.locator("img").count() == 0
    assert not shown.faults


@pytest.mark.parametrize("name", [n for n in NAMES if "controls" in SAVED[n]["state"]])
def test_without_controls_there_are_none(show, name):
    page = show(moved(SAVED[name], controls=[])).page
    assert page.locator("input, select, button:visible").count() == 0
