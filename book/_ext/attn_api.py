"""The package and the chapters lead to each other.

The reference is made by autodoc from the docstrings. Here the names of the package become links:
in the text of every page, and once in each code cell of a chapter. The reference says which
chapters use a name, and where its code is shown; the index has the same places.
"""

import ast
import re
from html import escape

from attn_terms import line_of_uses
from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from devkit.chapters import chapter_of

PACKAGE, REFERENCE = "attnbook", "book/api/"
NAME = re.compile(r"(?:ab\.)?([A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)
SPAN, DOT = r'<span class="(?:n|nc|nf|nn)">(\w+)</span>', r'<span class="o">\.</span>'
HIGHLIGHTED = re.compile(rf"{SPAN}{DOT}{SPAN}(?:{DOT}{SPAN})?")


class uses_of(nodes.General, nodes.Element):
    """Stands in the reference until every chapter is read."""


class UsesOf(SphinxDirective):
    """`.. attn-uses:: masked_softmax`: the chapters that use this name."""

    required_arguments = 1

    def run(self):
        return [uses_of(name=self.arguments[0])]


def literal_blocks(lines: list[str]) -> list[str]:
    """What stands indented below a paragraph of a module's docstring is code, not a quotation."""
    told, before = [], ""
    for line in lines:
        if line[:4].isspace() and before and not before[0].isspace():
            told += ["::", ""]
        before = line or before
        told.append(line)
    return told


def prepare_docstring(app, what, name, obj, options, lines) -> None:
    """Autodoc: a bar is a bar, as in |q - k|; after a function's or class's text, its uses."""
    for place, line in enumerate(lines):
        if what == "module" and line[:4].isspace():  # code
            continue
        parts = line.split("`")
        lines[place] = "`".join(
            part if inside % 2 else part.replace("|", r"\|") for inside, part in enumerate(parts)
        )
    if what == "module":
        lines[:] = literal_blocks(lines)
    if what in ("function", "class", "exception"):
        lines += ["", f".. attn-uses:: {name}", ""]


def leave_out(app, what, name, obj, skip, options):
    """Autodoc: the fields of a named tuple say nothing."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def imported(tree: ast.AST) -> dict[str, str]:
    """What a cell calls the package and its parts: `ab` is the package, `data` is `data`."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == PACKAGE:
                    names[alias.asname or alias.name] = ""
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            room = node.module.partition(".")[2]
            for alias in node.names:
                names[alias.asname or alias.name] = f"{room}.{alias.name}".lstrip(".")
    return names


def used(tree: ast.AST, names: dict[str, str]):
    """The package's names in a cell, and whether their code is shown there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _dotted(node.func, names) == "show_source":
            for argument in node.args:
                if found := _dotted(argument, names):
                    yield found, True
        elif found := _dotted(node, names):
            yield found, False


def _dotted(node, names) -> str | None:
    """`ab.plots.heatmap` as `plots.heatmap`; None for what is not of the package."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([*filter(None, [names[node.id]]), *reversed(parts)]) or None


class MarkUses(SphinxTransform):
    """In a chapter, give each cell that first uses or shows a name an anchor."""

    default_priority = 700

    def apply(self, **kwargs) -> None:
        docname = self.env.docname
        chapter = chapter_of(self.env.srcdir, docname)
        if chapter is None:
            return
        names, seen = {}, set()
        for cell in self.document.findall(nodes.container):
            if cell.get("nb_element") != "cell_code_source":
                continue
            try:
                tree = ast.parse(cell.astext())
            except SyntaxError:  # a magic of IPython
                continue
            names |= imported(tree)
            uses = set(used(tree, names))  # in one order, whatever the seed of the hashes
            for name, shown in sorted(uses, key=lambda use: (not use[1], use[0])):
                if (name, shown) not in seen and (name, True) not in seen:
                    seen |= {(name, shown)}
                    anchor = f"ch{chapter.number}-{'source' if shown else 'use'}"
                    anchor += "-" + name.replace(".", "-")
                    cell["ids"].append(anchor)
                    here = self.env.attn_api_uses.setdefault(docname, [])
                    here.append((name, anchor, shown))
        self.env.attn_imports[docname] = names


class Names:
    """The documented objects, found by the names that chapters and docstrings use."""

    def __init__(self, env):
        self.found = {}
        for full, entry in env.domains["py"].objects.items():
            if full.startswith(f"{PACKAGE}.") and not entry.aliased:
                parts = full.split(".")[1:]
                for start in range(len(parts)):
                    self.found.setdefault(".".join(parts[start:]), []).append((full, entry))

    def get(self, name: str):
        """Full name and entry; a function or class goes before a module of its name."""
        candidates = self.found.get(name, [])
        return min(candidates, key=lambda c: (c[1].objtype == "module", len(c[0])), default=None)

    def address(self, builder, docname: str, name: str) -> str | None:
        if not (found := self.get(name)):
            return None
        return f"{builder.get_relative_uri(docname, found[1].docname)}#{found[1].node_id}"


def names_of(env) -> Names:
    """Made once, when all pages are read."""
    if not hasattr(env, "attn_names"):
        env.attn_names = Names(env)
    return env.attn_names


def find_type(app, env, node, contnode):
    """A type in a signature: a link where it is ours, else (torch, Python) plain text."""
    if node.get("refdomain") != "py" or not env.docname.startswith(REFERENCE):
        return None
    address = names_of(env).address(app.builder, env.docname, node["reftarget"].split(".")[-1])
    if not address:
        return contnode
    return nodes.reference("", "", contnode, internal=True, refuri=address)


class LinkNames(SphinxPostTransform):
    """Make the package's names links where they stand in the text as code."""

    default_priority = 30

    def run(self, **kwargs) -> None:
        names = names_of(self.env)
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, nodes.reference | nodes.title):
                continue
            found = NAME.fullmatch(literal.astext())
            if not found or not (literal.astext().startswith("ab.") or self.in_reference()):
                continue
            if self.in_reference() and not self.meant(literal.astext()):
                continue
            if address := names.address(self.app.builder, self.env.docname, found[1]):
                link = nodes.reference("", "", literal.deepcopy(), internal=True, refuri=address)
                literal.parent.replace(literal, link)

    def meant(self, text: str) -> bool:
        """Whether a docstring means the object: `weights` alone is an argument, not a method."""
        found = names_of(self.env).get(NAME.fullmatch(text)[1])
        whole = found and found[1].objtype in ("class", "data", "exception", "function")
        return bool(whole) or "." in text

    def in_reference(self) -> bool:
        return self.env.docname.startswith(REFERENCE)


class TellUses(SphinxPostTransform):
    """Fill in the chapters that use a name."""

    default_priority = 30

    def run(self, **kwargs) -> None:
        for place in list(self.document.findall(uses_of)):
            full = place["name"]
            uses = [(name, *use) for name, use in sorted(self.uses(full).items())]
            told = [line_of_uses(self.app, uses, " (its code)")] if uses else []
            place.parent.replace(place, told)

    def uses(self, full: str) -> dict:
        """By chapter: the anchor where its code is shown, else where it is first used."""
        names, best = names_of(self.env), {}
        for docname, places in self.env.attn_api_uses.items():
            for name, anchor, shown in places:
                found = names.get(name)
                if found and found[0] == full and (docname not in best or shown):
                    best[docname] = (anchor, shown)
        return best


def index_uses(app, env) -> None:
    """Write the chapters' uses into the index, under the entry that autodoc has made."""
    names, entries = names_of(env), env.domains["index"].entries
    made = {}
    for docname, found in entries.items():
        for kind, text, target, _, key in found:
            made[docname, target] = (kind, text, key)
    for docname, places in sorted(env.attn_api_uses.items()):
        for name, anchor, shown in places:
            if not (found := names.get(name)):
                continue
            if entry := made.get((found[1].docname, found[1].node_id)):
                kind, text, key = entry
                entries.setdefault(docname, []).append(
                    (kind, text, anchor, "main" if shown else "", key)
                )


def link_code(app, pagename, templatename, context, doctree) -> None:
    """In a chapter's cells, the first use of a name in each leads to the reference."""
    names = app.env.attn_imports.get(pagename)
    if not names or "body" not in context:
        return
    known, met = names_of(app.env), set()
    blocks = context["body"].split('<div class="highlight')
    for place, block in enumerate(blocks):
        code, end, rest = block.partition("</pre>")
        here = set()

        def linked(match, here=here):
            first, *parts = filter(None, match.groups())
            name = ".".join(filter(None, [names.get(first), *parts]))
            address = known.address(app.builder, pagename, name) if first in names else None
            if not address or name in here:
                return match[0]
            # the keyboard stops at a name once on a page
            stop = ' tabindex="-1"' if name in met else ""
            here.add(name)
            met.add(name)
            return f'<a class="attn-code" href="{escape(address)}"{stop}>{match[0]}</a>'

        blocks[place] = HIGHLIGHTED.sub(linked, code) + end + rest
    context["body"] = '<div class="highlight'.join(blocks)
    app.add_css_file("terms.css", priority=810)


LINES = re.compile(r"(<dt class=\"sig.*?)<dl>(.*?)</dl>(.*?</dt>)", re.DOTALL)


def plain_signatures(app, pagename, templatename, context, doctree) -> None:
    """In a long signature each argument has a line, without a list inside of a list's term."""

    def lines(match):
        inside = match[2].replace("<dd>", '<span class="attn-argument">')
        return match[1].rstrip() + inside.replace("</dd>", "</span>").strip() + match[3].lstrip()

    if pagename.startswith(REFERENCE) and "body" in context:
        context["body"] = LINES.sub(lines, context["body"])


def prepare(app) -> None:
    """Where the chapters' uses are gathered, by page."""
    app.env.attn_api_uses, app.env.attn_imports = {}, {}


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_node(uses_of)
    app.add_directive("attn-uses", UsesOf)
    app.add_transform(MarkUses)
    app.add_post_transform(LinkNames)
    app.add_post_transform(TellUses)
    app.connect("builder-inited", prepare)
    app.connect("autodoc-process-docstring", prepare_docstring)
    app.connect("missing-reference", find_type)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("env-check-consistency", index_uses)
    app.connect("html-page-context", link_code)
    app.connect("html-page-context", plain_signatures)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
