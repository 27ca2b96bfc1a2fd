"""Terms: the first use in each chapter leads to the glossary and shows the meaning on the spot.

The page `attn_glossary` holds Sphinx glossaries in which an entry is its English names, the
Chinese name (`查询 : 中文`) and a definition. A chapter introduces a term where it is bold;
elsewhere its first plain use counts. Each use is an entry of the index, and the glossary says
which chapters use the term.
"""

import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from attn_facts import ancestors
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from devkit.chapters import chapter_of
from devkit.predict import CLASS

BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHINESE = re.compile(r"(.+?) : 中文$")
BOLD_ONLY = re.compile(r"^only_when_bold: (.*)$", re.MULTILINE)
CJK = re.compile(r"[\u4e00-\u9fff]")
PLACE, LINKED = "attn-place", "attn-term"  # the classes of a use and of its link
# Where no term is marked: names of things, what is a link already, and lists of terms.
PASSED_OVER = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.math,
    nodes.table,
    nodes.caption,
    nodes.footnote,
    nodes.citation,
    nodes.Invisible,
    addnodes.pending_xref,
    nodes.literal_block,
    nodes.raw,
)


@dataclass
class Term:
    """An entry of the glossary, and where the chapters use it."""

    names: list[str]
    chinese: str
    meaning: str
    bold_only: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def hover(self) -> str:
        return f"{self.name} · {self.chinese}: {self.meaning}"

    def pattern(self, *, bold: bool) -> str:
        """What a text may call it: any of its names, singular or plural."""
        names = [n for n in self.names if bold or n not in self.bold_only]
        return "|".join(map(forms, sorted(names, key=len, reverse=True)))


def pattern_of(terms: list[Term]) -> tuple[list[str], re.Pattern]:
    """Names, and a pattern whose group `t` and a number is the term of that place among them."""
    patterns = [(t.name, t.pattern(bold=False)) for t in terms]
    named = sorted(((n, p) for n, p in patterns if p), key=lambda found: -len(found[1]))
    inner = "|".join(f"(?P<t{i}>{pattern})" for i, (_, pattern) in enumerate(named))
    names = [name for name, _ in named]
    return names, re.compile(rf"(?<![\w-])(?:{inner})(?![\w-])", re.IGNORECASE)


def forms(name: str) -> str:
    """A pattern of a name, its plural, and, of a verb in -e, its past; a capital must be one."""
    start = name if name.endswith("ss") else name.removesuffix("s")
    if re.search(r"[^aeiou]y$", start):
        pattern = re.escape(start[:-1]) + "(?:y|ies)"
    else:
        pattern = re.escape(start) + ("[ds]?" if start.endswith("e") else "(?:e?s)?")
    return f"(?-i:{pattern})" if name != name.lower() else pattern


def read_terms(text: str) -> list[Term]:
    """The entries of a glossary page; one without a Chinese name is an error."""
    only = BOLD_ONLY.search(text)
    bold_only = {name.strip() for name in only[1].split(",")} if only else set()
    terms = []
    for block in BLOCK.findall(text):
        for entry in re.split(r"\n\n+", block.strip()):
            lines = entry.split("\n")
            meaning = " ".join(line.strip() for line in lines if line.startswith("  "))
            names = [line for line in lines if not line.startswith("  ")]
            chinese = CHINESE.match(names.pop())
            if not (chinese and names and meaning):
                raise ValueError(f"glossary: a name, '... : 中文' or a meaning is missing: {lines}")
            plain = meaning.replace("`", "").replace("*", "")
            terms.append(Term(names, chinese[1], plain, bold_only & set(names)))
    return terms


def load(app) -> None:
    """Read the glossary before the chapters; a book without one marks nothing."""
    page = Path(app.srcdir) / f"{app.config.attn_glossary}.md"
    terms = read_terms(page.read_text(encoding="utf-8")) if page.is_file() else []
    app.env.attn_terms = {term.name: term for term in terms}
    app.env.attn_uses = {}  # by page: term, anchor, introduced there


def uses_of(env, term: str) -> list[tuple[str, str, bool]]:
    """Where the chapters use a term, in their order: page, anchor, introduced there."""
    return [
        (docname, anchor, bold)
        for docname, uses in sorted(env.attn_uses.items())
        for name, anchor, bold in uses
        if name == term
    ]


class MarkTerms(SphinxTransform):
    """In a chapter, make the place where each term is introduced or first used a link."""

    default_priority = 700  # after the parser, before the references are resolved
    sought = None  # the terms of `pattern`

    def apply(self, **kwargs) -> None:
        self.chapter = chapter_of(self.env.srcdir, self.env.docname)
        if self.chapter is None:
            return
        places = [
            text
            for text in self.document.findall(nodes.Text)
            if not _inside(text, PASSED_OVER)
            and not _in_cell(text)
            and _inside(text, (nodes.paragraph,))
            and not _asked(text)
            and not _offered(text)
        ]
        missing = dict(self.env.attn_terms)
        replaced = []  # bold names that a link has taken the place of
        for place in places:  # first the places that introduce: bold
            bold = place.parent
            if isinstance(bold, nodes.strong):
                for term in list(missing.values()):
                    if re.fullmatch(term.pattern(bold=True), bold.astext(), re.IGNORECASE):
                        bold.parent.replace(bold, self.link(bold, missing.pop(term.name)))
                        replaced.append(bold)
                        break
        for place in places:
            if not any(place.parent is bold for bold in replaced):
                self.mark(place, missing)

    def mark(self, place: nodes.Text, missing: dict) -> None:
        """Link the terms of one text that are still missing, the longest name first."""
        if missing.keys() != self.sought:  # in most texts no term is found: one pattern serves many
            self.sought, self.pattern = set(missing), pattern_of(list(missing.values()))
        names, pattern = self.pattern
        if not names:
            return
        text, parts, done = place.astext(), [], 0
        for found in pattern.finditer(text):
            term = missing.pop(names[int(found.lastgroup[1:])], None)
            if term is None:
                continue
            parts += [nodes.Text(text[done : found.start()])]
            parts += [self.link(nodes.inline(found[0], found[0]), term)]
            done = found.end()
        if parts:
            place.parent.replace(place, [*parts, nodes.Text(text[done:])])

    def link(self, node, term: Term) -> nodes.inline:
        """A reference to the glossary around `node`, with an entry of the index."""
        docname = self.env.docname
        bold = isinstance(node, nodes.strong)
        anchor = f"ch{self.chapter.number}-{nodes.make_id(term.name)}"
        uses = self.env.attn_uses.setdefault(docname, [])
        uses.append((term.name, anchor, bold))
        entry = ("single", term.name, anchor, "main" if bold else "", None)
        reference = addnodes.pending_xref("", node.deepcopy(), refdomain="std", reftype="term")
        reference.attributes |= {"reftarget": term.name, "refdoc": docname}
        reference.attributes |= {"refexplicit": True, "refwarn": True}
        place = nodes.inline("", "", addnodes.index(entries=[entry]), reference)
        place["ids"], place["classes"], place["attn-term"] = ([anchor], [PLACE], term.name)
        return place


def _inside(node, classes) -> bool:
    return any(isinstance(around, classes) for around in ancestors(node))


def _asked(text) -> bool:
    """Whether it is the chapter's question, alone in its paragraph under the title."""
    paragraph = text.parent.parent
    return (
        isinstance(text.parent, nodes.emphasis)
        and len(paragraph) == 1
        and paragraph.parent.index(paragraph) == 1
    )


def _offered(text) -> bool:
    """Whether it is a choice of a prediction, which is a button."""
    return any(
        isinstance(around, nodes.Admonition) and CLASS in around["classes"]
        for around in ancestors(text)
    ) and _inside(text, (nodes.list_item,))


def _in_cell(node) -> bool:
    """Whether it stands in a code cell's output, of which only one form is shown."""
    return any(isinstance(a, nodes.container) and "nb_element" in a for a in ancestors(node))


class ShowMeaning(SphinxPostTransform):
    """Give each resolved link to a term its meaning, as the link's title."""

    default_priority = 20  # references are resolved at 10

    def run(self, **kwargs) -> None:
        for place in self.document.findall(nodes.inline):
            if PLACE in place["classes"]:
                for reference in place.findall(nodes.reference):
                    reference["reftitle"] = self.env.attn_terms[place["attn-term"]].hover
                    reference["classes"] += [LINKED]


class TellChapters(SphinxPostTransform):
    """In the glossary, set off the Chinese name and say which chapters use the term."""

    default_priority = 20
    formats = ("html",)

    def run(self, **kwargs) -> None:
        if self.env.docname != self.config.attn_glossary:
            return
        for item in self.document.findall(nodes.definition_list_item):
            names = [n for n in item.children if isinstance(n, nodes.term)]
            for name in names:
                if CJK.search(name.astext()):
                    text = next(name.findall(nodes.Text))
                    marked = f'<span lang="zh-Hans">{escape(text)}</span>'
                    name.replace(text, nodes.raw("", marked, format="html"))
                    name["classes"] += ["attn-chinese"]
            uses = uses_of(self.env, names[0].astext()) if names else []
            if uses:
                item.children[-1] += line_of_uses(self.app, uses)


def line_of_uses(app, uses, told: str = "") -> nodes.paragraph:
    """`In chapters 1, 3`, each a link to its place; the main ones are bold, or `told` follows."""
    paragraph = nodes.paragraph(classes=["attn-uses"])
    paragraph += nodes.Text("In chapter " if len(uses) == 1 else "In chapters ")
    for place, (docname, anchor, main) in enumerate(uses):
        if place:
            paragraph += nodes.Text(", ")
        page = app.builder.get_relative_uri(app.env.docname, docname)
        link = nodes.reference("", "", internal=True, refuri=f"{page}#{anchor}")
        number = nodes.Text(chapter_of(app.srcdir, docname).label)
        link += nodes.strong("", "", number) if main and not told else number
        paragraph += link
        if main and told:
            paragraph += nodes.Text(told)
    return paragraph


def add_assets(app, pagename, templatename, context, doctree) -> None:
    """The script of the meanings goes to the pages that have any."""
    if f'class="{PLACE}"' in context.get("body", ""):
        app.add_js_file("terms.js", loading_method="defer")
        app.add_css_file("terms.css", priority=810)
    elif pagename in (app.config.attn_glossary, "genindex"):
        app.add_css_file("terms.css", priority=810)


def setup(app):
    app.add_config_value("attn_glossary", "book/glossary", "env")
    app.add_transform(MarkTerms)
    app.add_post_transform(ShowMeaning)
    app.add_post_transform(TellChapters)
    app.connect("builder-inited", load)
    app.connect("html-page-context", add_assets)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
