"""What axe-core has to say against a page."""

import importlib.util
from pathlib import Path

AXE = Path(importlib.util.find_spec("axe_playwright_python").origin).parent / "axe.min.js"
RUN = """async (rules) => {
  const runOnly = rules.length ? { runOnly: rules } : {};
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...runOnly });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id} (${nodes.length}): ` + nodes.slice(0, 3)
      .map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join(" | "));
}"""


def complaints(page, *rules: str) -> list[str]:
    """What axe-core finds that is serious or critical; of all its rules, or of these."""
    page.evaluate(AXE.read_text("utf-8"))
    return page.evaluate(RUN, list(rules))
