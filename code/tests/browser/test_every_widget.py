"""What every widget must do, in a browser, beside Python's own numbers: a row of ROWS for each."""

import pytest
from page_parts import DARK, live, pictures, soon, use
from site_checks import complaints
from widget_rows import ROWS, WORD


@pytest.fixture(params=ROWS)
def row(request):
    return ROWS[request.param]


def part(page, row):
    """What takes the keyboard."""
    return page.locator(row.focus).locator("visible=true").first


def test_controls_do_what_python_does(show, row):
    """Each control, one after the other, as when Python sets the trait; and back."""
    widget = row.make()
    shown = show(widget)
    page = shown.page
    soon(page, row.shows, page, widget)
    first = before = look(page)
    for role, name, value, traits in row.controls:
        use(page, role, name, value)
        for trait, to in traits.items():
            setattr(widget, trait, to)
        soon(page, row.shows, page, widget)
        assert look(page) != before, f"{name} changes nothing that is seen"
        before = look(page)
    fresh = show(widget).page  # no step may leave a trace
    assert pictures(fresh) == pictures(page)
    if row.reset:
        use(page, "button", row.reset)
        soon(page, row.shows, page, row.make())
        assert pictures(page) == first[0]
    assert not shown.faults


def look(page) -> list:
    """What is drawn, and the text in sight."""
    text = "(root) => [...root.children].slice(0, -1).map((part) => part.innerText)"
    return [pictures(page), page.locator(".attn-heatmap").first.evaluate(text)]


def test_keys_move_what_is_marked_and_are_announced(show, row):
    widget = row.make()
    page = show(widget, height=400, style="body { min-height: 4000px }").page
    assert live(page) == "", "nothing is said before the reader comes"
    part(page, row).focus()
    start = page.evaluate("scrollY")
    for key, place in row.keys:
        if key:
            part(page, row).press(key)
        assert live(page).startswith(row.heard(widget, place)), (key, live(page))
    assert page.evaluate("scrollY") == start, "the page does not move"
    before = live(page)
    for key in ("ArrowUp", "ArrowLeft"):
        part(page, row).press(f"Control+{key}")
        assert live(page) == before, "keys with Ctrl are the browser's"


def test_it_is_sharp_and_follows_theme_and_width(show, row):
    page = show(row.make(**row.rich), device_scale_factor=1.5).page
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


def test_the_largest_fit_a_phone(show, row):
    shown = show(*row.large(), width=360, theme="dark")
    fits(shown.page)
    assert not shown.faults


def test_axe_finds_nothing_serious(show, row):
    dark = "html[data-theme=dark] body { background: #14181e; color: #ccc }"
    page = show(row.make(**row.rich), style=dark).page
    assert complaints(page) == []
    page.evaluate(DARK["data-theme"][0])
    page.wait_for_selector(".attn-widget [data-theme=dark]")
    assert complaints(page, "color-contrast") == []


def test_hard_ones_do_not_fail(show, row):
    """Labels are text, never markup; nothing to show, one of everything."""
    shown = show(*row.odd())
    page = shown.page
    assert WORD in page.locator(".attn-widget").first.inner_text() + page.content()
    for node in page.locator(row.focus).locator("visible=true").all():
        node.focus()
        for key in ("ArrowRight", "End", "Enter"):
            node.press(key)
    page.wait_for_timeout(200)  # tables are written
    assert page.locator(".attn-widget img").count() == 0
    assert page.locator(".attn-widget").evaluate_all(
        "(all) => all.map((a) => a.dataset.widget)"
    ) == ["awake"] * len(row.odd())
    assert not shown.faults


def test_two_views_of_one_model_move_together(show, row):
    widget = row.make()
    page = show(widget, widget).page

    def looks():
        return [
            [
                pictures(page, f".attn-widget >> nth={n}"),
                page.locator(".attn-widget").nth(n).inner_text(),
            ]
            for n in (0, 1)
        ]

    before = looks()[0]
    use(page, *row.controls[0][:3])

    def alike():
        first, second = looks()
        assert first == second != before

    soon(page, alike)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.bare])
def test_without_controls_there_are_none(show, name):
    page = show(ROWS[name].bare()).page
    assert page.locator("input, select, button:visible").count() == 0
