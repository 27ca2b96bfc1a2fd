r"""Search that knows symbols: √d, α, d_k, however they are written.

Sphinx cuts text into words at everything that is no letter. Formulas reach it as LaTeX, so that
`\sqrt{d}` was found as *sqrt* and `\mathbf{W}_q` as *mathbf*. Here both the page and the
query are first brought into one form; the script has the same rules, and a test compares them.
What the search page quotes has each formula once, as LaTeX: a page holds it as MathML and as boxes.
"""

import json
import re

from sphinx.search.en import SearchEnglish

GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta lambda mu nu xi pi rho sigma tau "
        "phi chi psi omega Delta Sigma Omega".split(),
        "αβγδεεζηθλμνξπρστφχψωΔΣΩ",
        strict=True,
    )
)
# What a symbol looks like, not what it is: \mathbf{W} is searched as W.
LOOKS = re.compile(
    r"\\(?:math\w*|text\w*|operatorname|tfrac|dfrac|frac|left|right|[bB]igg?[lr]?|lVert|rVert|lvert"
    r"|rvert|lceil|rceil|begin|end|bmatrix|pmatrix|underbrace|qquad|quad|top|lt|gt|cdot|dots|vdots"
    r"|sum|prod|in|times|ldots)(?![a-zA-Z])"
)
COMMAND = re.compile(r"\\([a-zA-Z]+)")
ROOT = re.compile(r"(?:√|\bsqrt)[\s({]*(\w+)")
SUBSCRIPT = re.compile(r"(?<=\w)\}?_\{([^{}]*)\}")
WORD = re.compile(r"√?\w+")


def plain(text: str) -> str:
    """LaTeX without its looks: Greek letters as letters, subscripts without braces."""
    if "\\" in text:
        text = LOOKS.sub(" ", text)
        text = COMMAND.sub(lambda m: f" {GREEK.get(m[1], m[1])}", text)
        text = re.sub(r"\{\s*(\w+)\s*\}(?=_)", r"\1", text)
    text = SUBSCRIPT.sub(lambda m: "_" + re.sub(r"\W+", "", m[1]), text)
    return ROOT.sub(r"√\1", text)


def words(text: str) -> list[str]:
    """The words to index: in one form, and beside a symbol its name and its letter."""
    found = []
    names = {letter: name for name, letter in GREEK.items() if name != "varepsilon"}
    for word in WORD.findall(plain(text)):
        found.append(word)
        if word.startswith("√"):
            found += ["sqrt", word[1:]]
        base = word.lstrip("√").split("_")[0]
        if base in names:
            found += [base, names[base]]
    return found


SPLITTER = r"""
var splitQuery = (query) => {
  const greek = GREEK_TABLE;
  const join = (_, word, below) => `${word}_${below.replace(/[^\p{L}\p{N}]+/gu, "")}`;
  return query
    .replace(/LOOKS/g, " ")
    .replace(/\\([a-zA-Z]+)/g, (_, name) => ` ${greek[name] ?? name}`)
    .replace(/\{\s*(\w+)\s*\}(?=_)/g, "$1")
    .replace(/([\p{L}\p{N}])\}?_\{([^{}]*)\}/gu, join)
    .replace(/(?:√|\bsqrt)[\s({]*([\p{L}\p{N}_]+)/gu, "√$1")
    .split(/[^√\p{L}\p{N}_\p{Emoji_Presentation}]+/gu)
    .filter((term) => term && term !== "√");
};
if (typeof Search !== "undefined") {
  const read = Search.htmlToText;
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const formula of page.querySelectorAll(".katex")) {
      formula.replaceWith(formula.querySelector("annotation").textContent);
    }
    return read(page.documentElement.outerHTML, anchor);
  };
}
"""


class SearchSymbols(SearchEnglish):
    """English, with symbols kept whole."""

    js_splitter_code = SPLITTER.replace("GREEK_TABLE", json.dumps(GREEK)).replace(
        "LOOKS", LOOKS.pattern
    )

    def split(self, text: str) -> list[str]:
        return words(text)


def setup(app):
    app.add_search_language(SearchSymbols)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
