"""Diagrams in the page: each word can be read, light and dark, on a desktop and on a phone."""

PAGES = ["index", "01_cues", "02_kernel_regression", "03_attention", "03_scoring", "04_bahdanau"]
PAGES += ["06_positions", "06_reach"]
PAGES += ["07_transformer", "07_transformer_measured"]
PAGES += ["08_language_model", "08_language_model_measured", "09_luong", "10_sparse"]
PAGES += ["11_content", "12_cheaply"]
# What is too small, cut, outside of its box, or upon other words. (axe: test_access.py)
FAULTS = """() => {
  const style = (node) => getComputedStyle(node);
  const shown = (node) => node.getClientRects().length && style(node).visibility !== "hidden";
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
    && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const found = [];
  for (const svg of [...document.querySelectorAll(".attn-drawing")].filter(shown)) {
    const name = svg.querySelector("title").textContent;
    const say = (what, text) => found.push(`${name}: ${what} "${text.textContent}"`);
    const frame = svg.getBoundingClientRect();
    if (frame.right > innerWidth || frame.left < 0) found.push(`${frame.left} to ${frame.right}`);
    const scale = frame.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].filter(shown);
    texts.forEach((text, n) => {
      const box = text.getBoundingClientRect();
      const rect = !text.closest(".grid") && text.parentNode.querySelector(":scope > rect");
      if (scale * parseFloat(style(text).fontSize) < 10) say("small", text);
      if (!within(box, frame)) say("cut", text);
      if (rect && !within(box, rect.getBoundingClientRect())) say("outside", text);
      for (const other of texts.slice(n + 1)) {
        const place = other.getBoundingClientRect();
        const x = Math.min(box.right, place.right) - Math.max(box.left, place.left);
        const y = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
        if (x > 0.5 && y > 4) say(`upon "${other.textContent}"`, text); // lines of text touch
      }
    });
  }
  return found;
}"""
COLOURS = """() => [...document.querySelectorAll(".attn-drawing")].flatMap((svg) =>
  [...svg.querySelectorAll("rect, text, .edge, .tip, .hatch")].map((part) => {
    const { fill, stroke } = getComputedStyle(part);
    return part.matches(".edge, .hatch") || (fill === "none") ? stroke : fill;
  }))"""
COUNT = """() => [...document.querySelectorAll(".attn-drawing")]
  .filter((svg) => svg.getClientRects().length).length"""


def test_every_diagram_can_be_read(visit, server):
    with visit(server) as shown:
        page = shown.page
        for name in PAGES:
            page.goto(f"{server}book/{name}.html", wait_until="load")
            for width in (1280, 768, 360):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate(COUNT) == page.locator("figure.attn-diagram").count() >= 1
                assert page.evaluate(FAULTS) == [], (name, width)
            light = page.evaluate(COLOURS)
            page.evaluate("document.documentElement.dataset.theme = 'dark'")
            dark = page.evaluate(COLOURS)
            assert all(one != other for one, other in zip(light, dark, strict=True))
            page.set_viewport_size({"width": 1280, "height": 900})
        assert not shown.faults


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
