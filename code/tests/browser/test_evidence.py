"""Evidence on a page: closed, opened by a press, a key or a link into it."""

import pytest

CLOSED = "details.attn-evidence"
INSIDE = f"{CLOSED} [id]"


@pytest.fixture(scope="module")
def name(site) -> str:
    """The first page that has evidence with something to link to."""
    pages = sorted((site / "book").glob("[0-9]*.html"))
    return next(p.name for p in pages if 'class="attn-evidence"' in p.read_text("utf-8"))


def is_seen(box) -> bool:
    return box.evaluate("(box) => box.lastElementChild.checkVisibility()")


def test_it_is_closed_until_it_is_pressed(visit, base, name):
    with visit(base) as shown:
        shown.page.goto(f"{base}book/{name}")
        box = shown.page.locator(CLOSED).first
        assert not is_seen(box)
        box.locator("summary").first.press("Enter")
        assert is_seen(box)
        box.locator("summary").first.click()
        assert not is_seen(box) and not shown.faults


def test_a_link_into_it_opens_it(visit, base, name):
    with visit(base) as shown:
        shown.page.goto(f"{base}book/{name}")
        where = shown.page.locator(INSIDE).first.get_attribute("id")
        around = shown.page.locator(f'{CLOSED}:has([id="{where}"])').first
        shown.page.evaluate("(id) => { location.hash = id; }", where)
        assert is_seen(around)
        shown.page.goto("about:blank")
        shown.page.goto(f"{base}book/{name}#{where}")
        assert is_seen(around) and not shown.faults
