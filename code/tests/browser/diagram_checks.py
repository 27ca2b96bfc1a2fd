"""What is looked at in the diagrams of a page."""

# What is too small, cut, outside of its box, or upon other words. (axe: test_access.py)
FAULTS = """() => {
  const style = (node) => getComputedStyle(node);
  const shown = (node) => node.getClientRects().length && style(node).visibility !== "hidden";
  const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
    && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
  const found = [];
  for (const figure of document.querySelectorAll("figure.attn-diagram")) {
    const drawn = [...figure.querySelectorAll(".attn-drawing")].filter(shown).length;
    if (drawn !== 1) found.push(`${figure.id}: ${drawn} drawings are shown`);
  }
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
      if (scale * parseFloat(style(text).fontSize) < 11.9) say("small", text);
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
