"""What is found on every page of the site, opened once on a desktop and once on a phone."""

from __future__ import annotations

import gzip
import importlib.util
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup
from diagram_checks import COLOURS as DIAGRAM_COLOURS
from diagram_checks import FAULTS as DIAGRAM_FAULTS

from devkit import browser as harness

WIDTHS = {"desktop": 1280, "phone": 360}
TABLET = 768  # pixels
VIEW = 'type="application/vnd.jupyter.widget-view+json"'
REDIRECT = re.compile(r'http-equiv="refresh" content="0; *url=([^"]+)"', re.IGNORECASE)
# By what they find: on a page there should be none, or as many as a test says.
FINDERS = {
    # a formula that reaches its number, or needs scrolling
    "wide formulas": """() => [...document.querySelectorAll("div.math")].filter((box) => {
      const boxes = [...box.querySelectorAll(":scope > span:not(.eqno), .katex-html")];
      const number = box.querySelector(".eqno")?.getBoundingClientRect();
      return boxes.some((inner) => {
        const { right, bottom } = inner.getBoundingClientRect();
        const hit = number && right > number.left + 1 && bottom > number.top + 1;
        return hit || inner.scrollWidth > inner.clientWidth + 1;
      });
    }).map((box) => box.textContent)""",
    # one that is wider than its box, which does not scroll
    "cut formulas": """() => [...document.querySelectorAll("div.math > span:not(.eqno)")]
      .filter((box) => {
        const outer = box.parentElement.getBoundingClientRect();
        const { left, right } = box.getBoundingClientRect();
        const scrolls = getComputedStyle(box).overflowX === "auto";
        return left < outer.left - 1 || right > outer.right + 1 ||
          (box.scrollWidth > box.clientWidth + 1 && !scrolls);
      }).map((box) => box.textContent)""",
    "set formulas": """() => [...document.querySelectorAll("div.math .katex-display")]
      .map(() => "set")""",
    # lines of 88 characters need no scrolling; only strings may be longer (book/ruff.toml)
    "wide code": """() => [...document.querySelectorAll(".cell_input pre, .attn-proof pre")]
      .filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
      .filter((pre) => Math.max(...pre.textContent.split("\\n").map((l) => l.length)) <= 88)
      .map((pre) => `${pre.scrollWidth} > ${pre.clientWidth}: ${pre.textContent.slice(0, 40)}`)""",
    "cut tables": """() => [...document.querySelectorAll(".bd-article table")]
      .filter((table) => !table.closest(".ah-hidden"))
      .filter((table) => table.scrollWidth > table.parentElement.clientWidth + 1)
      .map((table) => table.textContent.trim().slice(0, 60))""",
    # each sign of a formula, with the font that it asks for
    "signs": """() => [...new Set([...document.querySelectorAll(".katex-html *")].flatMap((box) => {
      const { fontFamily, fontWeight, fontStyle } = getComputedStyle(box);
      const font = `${fontStyle} ${fontWeight} 20px ${fontFamily.split(",")[0]}`;
      return [...box.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
        .flatMap((node) => [...node.data.replace(/[\\s\u200b]/g, "")])
        .map((sign) => `${font}|${sign}`);
    }))]""",
    # of what stands in the column, its kind and where it begins
    "left edges": """() => {
      const left = (node) => {
        const inner = node.matches(".attn-heatmap");
        const pad = inner ? parseFloat(getComputedStyle(node).paddingLeft) : 0;
        return Math.round(node.getBoundingClientRect().left + pad);
      };
      const kinds = {
        text: "section > p", code: "div.cell_input",
        figure: "figure :is(img:not(.attn-part), .attn-stack, svg.across)",
        widget: ".attn-widget .attn-heatmap", caption: "figcaption", moves: "ol.attn-moves",
      };
      return [...new Set(Object.entries(kinds).flatMap(([kind, what]) =>
        [...document.querySelectorAll(`.bd-article ${what}`)]
          .filter((node) => node.getClientRects().length)
          .filter((node) => !node.closest("li, .attn-signature, details"))
          .map((node) => `${kind} ${left(node)}`)))];
    }""",
    # what goes on at its right and does not fade there; on a desktop only a long string may
    "cut at the right": """() => [...document.querySelectorAll(".bd-article *")]
      .filter((node) => node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 1)
      .filter((node) => node.checkVisibility() && !node.closest(".katex, .ah-hidden, .math"))
      .filter((node) => {
        const { overflowX, textOverflow, maskImage } = getComputedStyle(node);
        const fades = innerWidth <= 480 ? maskImage !== "none" : node.matches(".cell_input pre");
        return overflowX !== "visible" && textOverflow !== "ellipsis" && !fades;
      })
      .map((node) => `${node.tagName}.${node.className} ${node.scrollWidth} ${node.clientWidth}: `
        + node.textContent.trim().slice(0, 40))""",
    "diagram faults": DIAGRAM_FAULTS,
    "diagram colours": DIAGRAM_COLOURS,
}
HEIGHTS = "() => [...document.querySelectorAll('.attn-widget')].map((box) => box.offsetHeight)"
# The heights that a page keeps for its widgets, read before the first of them is awake.
EARLY = f"""document.addEventListener("DOMContentLoaded", () => {{
  window.attnAwake = document.querySelectorAll(".attn-widget[data-widget]").length;
  const evidence = [...document.querySelectorAll("details.attn-evidence")];
  for (const part of evidence) part.open = true; // what is closed keeps no height
  window.attnHeights = ({HEIGHTS})();
  for (const part of evidence) part.open = false;
}});"""


@cache
def parsed(path: Path) -> BeautifulSoup:
    """A page as a tree, which no test changes: to make one takes a second."""
    return BeautifulSoup(path.read_text("utf-8"), "lxml")


@dataclass
class Found:
    """Of one page: faults, width, bytes of the first view, what FINDERS find; how things moved."""

    faults: list[str]
    width: int
    weight: int
    what: dict[str, list[str]]
    shift: float  # before anybody scrolls
    kept: list[int]  # heights of widgets before the first of them is awake
    taken: list[int]  # and when all are
    diagrams: int


def arrive(page, site, base, name):
    """Open a page, follow a redirect, and wait for what starts by itself: scripts, fonts."""
    page.goto(base + name, wait_until="commit")
    if target := REDIRECT.search((site / name).read_text("utf-8")):
        page.wait_for_url(urljoin(base + name, target[1]))
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(100)  # the widgets in view, and what they ask for


def open_answers(page):
    """Show evidence, and what is closed until a reader predicts it."""
    page.evaluate("""() => {
      for (const part of document.querySelectorAll("details.attn-evidence")) part.open = true;
      document.querySelector(".attn-all input:not(:checked)")?.click();
    }""")


def wake(page):
    """Open every answer, scroll to every widget until it is awake; returns their boxes."""
    open_answers(page)
    boxes = page.locator(".attn-widget").all()
    for box in boxes:
        box.scroll_into_view_if_needed()
        handle = box.element_handle()
        page.wait_for_function("(box) => box.dataset.widget", arg=handle, timeout=5000)
        assert box.get_attribute("data-widget") == "awake"
    return boxes


def bytes_of(site, base, asked) -> int:
    """The size of the files that were asked for, packed."""
    paths = {unquote(urlsplit(url).path) for url in asked if url.startswith(base)}
    return sum(len(gzip.compress((site / path[1:]).read_bytes())) for path in paths)


def walk(visit, site, base, pages, **options) -> dict[str, Found]:
    """Open every page of the site, wake its widgets, look at it; at diagrams on a tablet, too."""
    found = {}
    with visit(base, **options) as shown:
        page, asked = shown.page, set()
        page.add_init_script(harness.WATCH + EARLY)
        page.on("request", lambda request: asked.add(request.url))
        for name in pages:
            page.goto("about:blank")  # what the page before still asks for is not this one's
            shown.forget()
            asked.clear()
            arrive(page, site, base, name)
            weight = bytes_of(site, base, asked) if base.startswith("http") else 0
            shift, awake, kept = page.evaluate("[window.shift, attnAwake, attnHeights]")
            assert awake == 0, "too late: a widget was awake before its height was read"
            wake(page)
            taken = page.evaluate(HEIGHTS)
            width = page.evaluate("document.documentElement.scrollWidth")
            what = {key: page.evaluate(script) for key, script in FINDERS.items()}
            diagrams = page.locator("figure.attn-diagram").count()
            if diagrams and base.startswith("http"):
                size = page.viewport_size
                page.set_viewport_size({"width": TABLET, "height": 900})
                what["diagram faults"] += page.evaluate(DIAGRAM_FAULTS)
                page.set_viewport_size(size)
            found[name] = Found(shown.faults, width, weight, what, shift, kept, taken, diagrams)
    return found


AXE = Path(importlib.util.find_spec("axe_playwright_python").origin).parent / "axe.min.js"
RUN = """async (options) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...options });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id} (${nodes.length}): ` + nodes.slice(0, 3)
      .map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join(" | "));
}"""
COLOURS = ("color-contrast", "link-in-text-block")
# Leaves one token of code of each look, and one formula: what axe-core does for each takes seconds.
THIN_OUT = """() => {
  const [seen, again] = [new Set(), []];
  const look = (node) => {
    const { color, backgroundColor, fontSize } = getComputedStyle(node);
    return [node.className, color, backgroundColor, fontSize].join();
  };
  for (const node of document.querySelectorAll(".highlight span, .katex")) {
    if (node.childElementCount && !node.matches(".katex")) continue;
    const key = [node, node.parentElement, node.closest("pre, p, td, li, div")]
      .map((part) => (part ? look(part) : "")).join("|");
    if (seen.has(key)) again.push(node);
    seen.add(key);
  }
  for (const node of again) node.replaceWith(node.textContent); // last: it makes styles stale
}"""
# Takes out of sight all text of a look that was seen before, here or on another page: its colour
# and size, and each ground below it. Axe-core takes seconds to look at it again. Returns the looks.
SHOW_NEW = """(before) => {
  window.shownAgain?.();
  const [seen, out, stay] = [new Set(before), [], []];
  const grounds = new Map([[document, ""]]);
  const ground = (node) => {
    if (!grounds.has(node)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(node);
      const own = `${backgroundColor} ${backgroundImage} ${opacity}`;
      const clear = own === "rgba(0, 0, 0, 0) none 1" ? "" : `${own}|`;
      grounds.set(node, clear + ground(node.parentNode));
    }
    return grounds.get(node);
  };
  for (const node of document.body.querySelectorAll("*")) {
    if (![...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim())) continue;
    const { color, fontSize, fontWeight, visibility } = getComputedStyle(node);
    if (visibility !== "visible" || !node.getClientRects().length) continue;
    const { parentElement } = node;
    const beside = node.matches("a") ? getComputedStyle(parentElement).color : ""; // it stands out
    const look = [color, fontSize, fontWeight, beside, ground(node)].join();
    if (seen.has(look)) out.push(node);
    else stay.push(...(beside ? [parentElement, node] : [node]));
    seen.add(look);
  }
  const all = [...out, ...stay];
  const styles = all.map((node) => node.getAttribute("style"));
  window.shownAgain = () => all.forEach((node, n) => (
    styles[n] === null ? node.removeAttribute("style") : node.setAttribute("style", styles[n])));
  for (const node of out) node.style.setProperty("visibility", "hidden", "important");
  for (const node of stay) node.style.setProperty("visibility", "visible", "important");
  return [...seen];
}"""


def complaints(page, *rules: str, less: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds that is serious or critical; of all its rules, or of these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    only = {"runOnly": list(rules)} if rules else {}
    return page.evaluate(RUN, {**only, "rules": {rule: {"enabled": False} for rule in less}})
