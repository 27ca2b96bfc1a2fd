"""The doors: one way through the course is followed, and every page says where it goes on."""

from urllib.parse import urljoin

import pytest
from site_checks import WIDTHS, parsed

from devkit import browser
from devkit.chapters import ROUTES, chapters, route

HOME = "book/index.html"
MARKED = """() => [...document.querySelectorAll(".bd-sidebar-primary a.internal")]
  .filter((link) => getComputedStyle(link, "::after").content !== "none")
  .map((link) => link.href.split("#")[0])"""


def shown_lines(page) -> list:
    """The lines of the ways that a page shows: those of its opener, then those of its foot."""
    return [nav.locator("p:visible").all() for nav in page.locator("nav.attn-ways").all()]


def test_without_a_choice_or_javascript_a_page_shows_every_way_that_it_lies_on(visit, server):
    for options in ({}, {"java_script_enabled": False}):
        with visit(server, **options) as shown:
            for name in ("01_cues", "05_multihead", "09_luong", "playground"):
                shown.page.goto(f"{server}book/{name}.html")
                on = sum(name in route(way) for way in ROUTES)
                assert [len(lines) for lines in shown_lines(shown.page)] == [on, on], name
            assert options or not shown.page.evaluate(MARKED)
            shown.page.goto(server + HOME)
            buttons = shown.page.locator(".attn-door button:visible").count()
            assert buttons == (0 if options else len(ROUTES))
            assert shown.page.locator(".attn-door a:visible").count() == len(ROUTES)


@pytest.mark.parametrize("device", WIDTHS)
def test_a_way_is_followed_by_keyboard_and_kept(visit, server, device):
    """Its pages have a mark, each page shows its line alone, and a second press lets go."""
    with visit(server, width=WIDTHS[device]) as shown:
        page = shown.page
        page.goto(server + HOME)
        for way, door in zip(ROUTES, page.locator(".attn-door").all(), strict=True):
            button = door.get_by_role("button", name="Follow this way")
            before = page.evaluate("document.documentElement.scrollHeight")
            button.press("Space")
            assert page.evaluate("document.documentElement.scrollHeight") == before
            pressed = [
                b.get_attribute("aria-pressed") for b in page.locator(".attn-door button").all()
            ]
            assert pressed == [str(other == way).lower() for other in ROUTES]
            for box in (button.bounding_box(), door.locator("a").bounding_box()):
                assert box["height"] >= 44
        page.goto(f"{server}book/02_kernel_regression.html")
        for lines in shown_lines(page):
            (line,) = lines
            assert "page 2 of" in line.inner_text()
        page.goto(server + HOME)
        page.locator(".attn-door button").last.press("Enter")
        kept = "[localStorage.getItem('attn-way'), document.documentElement.dataset.way]"
        assert page.evaluate(kept) == [None, None]


@pytest.mark.parametrize("device", WIDTHS)
def test_a_choice_moves_nothing(visit, server, device):
    """A page is laid out once, with a way and without."""
    for name in (HOME, "book/03_scoring.html", "book/05_multihead.html"):
        shifts = []
        for way in ("", ROUTES[1]):
            with visit(server, width=WIDTHS[device]) as shown:
                shown.page.add_init_script(
                    f"{browser.WATCH}localStorage.setItem('attn-way', '{way}')"
                )
                shown.page.goto(server + name)
                shown.page.wait_for_timeout(300)
                shifts.append(shown.page.evaluate("window.shift"))
        # what formulas move when they are set is no more
        assert shifts[1] <= shifts[0] + 0.005, name


def test_the_links_at_the_foot_walk_the_way(visit, server):
    """From the door to its last page; the marks in the side are its pages."""
    way = ROUTES[0]
    addresses = [f"{server}book/{name}.html" for name in route(way)]
    with visit(server) as shown:
        page = shown.page
        page.goto(server + HOME)
        page.locator(f".attn-door[data-way={way}] a").click()
        for n, address in enumerate(addresses, 1):
            page.wait_for_url(address)
            assert set(page.evaluate(MARKED)) == set(addresses)
            opener, foot = shown_lines(page)
            assert [len(opener), len(foot)] == [1, 1]
            assert f"page {n} of {len(addresses)}" in foot[0].inner_text()
            if n < len(addresses):
                foot[0].get_by_role("link").last.click()


@pytest.mark.parametrize("way", ROUTES)
def test_every_page_says_where_a_way_goes_on(site, way):
    """To the way's next page in the order of the contents, also from a page that is not on it."""
    order = [*chapters(), "playground"]
    for name in order:
        page = f"book/{name}.html"
        for line in parsed(site / page).select(f"nav.attn-ways .attn-way-{way}"):
            assert ("attn-beside" in line["class"]) == (name not in route(way))
            later = [other for other in route(way) if order.index(other) > order.index(name)]
            links = [urljoin(page, link["href"]) for link in line.select("a")]
            assert links == [f"{HOME}#door-{way}", *(f"book/{n}.html" for n in later[:1])]
            assert parsed(site / HOME).select_one(f"#door-{way}")


def test_doors_say_what_lies_behind_them(site):
    """Pages and minutes are those of the chapters themselves."""
    for door in parsed(site / HOME).select(".attn-door"):
        names = [name for name in route(door["data-way"]) if name in chapters()]
        facts = [parsed(site / "book" / f"{n}.html").select_one(".attn-facts").text for n in names]
        minutes = sum(int(fact.split()[0]) for fact in facts)
        said = door.select_one(".attn-facts").text
        assert said.startswith(f"{len(names)} pages, about ")
        number = said.split("about ")[1].split()[0].replace("½", ".5")
        read = float(number) * (60 if " hours" in said else 1)
        assert abs(read - minutes) <= 15
        chips = [chip.text for chip in door.select(".attn-path i:not(.attn-past)")]
        assert [chip for chip in chips if chip != "play"] == [chapters()[n].label for n in names]
        assert ("play" in chips) == ("playground" in route(door["data-way"]))
