"""Diagrams in the page: each word can be read, light and dark, on desktop, tablet and phone."""

from diagram_checks import FAULTS

PAGES = 14  # of the book, at least, that have one


def test_every_diagram_can_be_read(walked):
    """Every page was opened on a desktop (and a tablet) in light, on a phone in dark."""
    for pages in walked.values():
        faults = {name: found.what["diagram faults"] for name, found in pages.items()}
        assert {name: what for name, what in faults.items() if what} == {}
        assert sum(found.diagrams > 0 for found in pages.values()) >= PAGES
    for name, light in walked["desktop"].items():
        dark = walked["phone"][name].what["diagram colours"]
        same = [
            one == other for one, other in zip(light.what["diagram colours"], dark, strict=True)
        ]
        assert not any(same), name


def test_faults_would_be_found(visit, server):
    """The control: a word too long, one that is small, and one upon another."""
    with visit(server) as shown:
        shown.page.goto(f"{server}book/01_cues.html")
        shown.page.evaluate(
            """() => { const [one, two, three] = document.querySelectorAll(".across .name");
              one.textContent = "a word that is too long for its box";
              two.style.fontSize = "8px";
              three.setAttribute("y", +three.nextSibling.getAttribute("y") - 2); }"""
        )
        faults = " ".join(shown.page.evaluate(FAULTS))
    assert all(f": {what} " in faults for what in ("outside", "small", "upon"))


def test_a_box_shows_its_equations_number_and_leads_to_it(visit, server):
    with visit(server) as shown:
        page = shown.page
        page.goto(f"{server}book/03_scoring.html")
        link = page.locator(".attn-drawing.across a").last
        number = link.locator(".eq")
        assert not number.is_visible()
        link.hover()
        assert number.is_visible() and number.text_content().startswith("(3b.")
        link.click()
        place = page.evaluate("decodeURIComponent(location.hash)")
        assert page.locator(place).locator(".eqno").inner_text().startswith(number.text_content())
