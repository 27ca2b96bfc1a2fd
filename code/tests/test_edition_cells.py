"""The reader's edition of a small book that has everything a chapter may hold, and an address.

The real one (`site`) has none: what it holds is looked at in browser/test_edition.py.
"""

import ast
import re
from base64 import b64encode
from pathlib import Path

import attn_edition
import attn_launch
import nbformat
import pytest
from attnbook_testing.books import small_book
from attnbook_testing.refusals import refuses
from IPython.core.inputtransformer2 import TransformerManager
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attnbook import plots
from devkit import clean, course, lab

ROOT = Path(__file__).resolve().parents[2]


URL = "https://github.com/owner/course"
SITE = "https://owner.example/course"
COLAB = "https://colab.research.google.com/github/owner/course/blob/notebooks/01_a.ipynb"
BINDER = "https://mybinder.org/v2/gh/owner/course/notebooks?urlpath=lab/tree/01_a.ipynb"
TEXT = r"""# Title

A sum $a<b$ by {footcite:t}`bahdanau2015`, and others {footcite:p}`nadaraya1964,watson1964`.

$$ x_{ij} = \begin{cases} 1 & i < j \\ 0 \end{cases} $$ (eq-one)

{eq}`eq-one` and {numref}`fig-one` and [the second](02_b.ipynb), 2\*3\*4, snake_case_name, `a|b`.

| one | two |
|---|--:|
| $\vert x\vert$ | a\|b |

:::{admonition} Folded
:class: dropdown
Some *words*.

- a list
  in two lines
:::

:::{note}
Noted.
:::

1. first

   more
2. second

term
: its meaning
"""
END = "## References\n\n```{footbibliography}\n```"


def two_forms():
    """What a cell shows that ends with `ab.plots.figure`."""

    def draw(columns, width):
        drawn = Figure(figsize=(width, 2))
        drawn.subplots(2 // columns, columns)
        return drawn

    png, told = plots.figure(draw, 2)._repr_png_()
    data = {"image/png": b64encode(png).decode()}
    return new_output("display_data", data=data, metadata={"image/png": told})


def chapter():
    figure = {"caption": "A caption with $y$.", "name": "fig-one"}
    told = {"mystnb": {"figure": figure, "image": {"alt": "a picture"}}}
    cells = [
        new_markdown_cell(TEXT, id="text"),
        new_code_cell("x = 1", execution_count=1, id="code"),
        new_code_cell("x", execution_count=2, id="shown", metadata=told, outputs=[two_forms()]),
        new_code_cell("print(x)", execution_count=3, id="gpu", metadata={"tags": ["gpu"]}),
        new_code_cell("y = 2", execution_count=4, id="folded", metadata={"tags": ["hide-input"]}),
        new_code_cell("z = 3", execution_count=5, id="gone", metadata={"tags": ["remove-cell"]}),
        new_markdown_cell(END, id="end"),
    ]
    return clean.clean(new_notebook(cells=cells), "01_a")


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """The site of two chapters, a page more, and addresses."""
    folder = tmp_path_factory.mktemp("named")
    plain = clean.clean(new_notebook(cells=[new_markdown_cell("# B\n\nText.", id="b")]), "b")
    pages = {"index": "# Start\n\nText.", "01_a": chapter(), "02_b": plain, "extra": plain}
    done = small_book(folder, pages, url=URL, site=SITE)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html"


def cells_of(built):
    (path,) = built.glob("notebooks/01_*.ipynb")
    return nbformat.read(path, as_version=4).cells


@pytest.fixture(scope="module")
def text(named):
    return "\n\n".join(c.source for c in cells_of(named) if c.cell_type == "markdown")


SHOWN = [
    r"A sum $a \lt b$ by Bahdanau *et al.* (2015), and others (Nadaraya, 1964; Watson, 1964).",
    "$$\n" + r"x_{ij} = \begin{cases} 1 & i \lt j \\ 0 \end{cases} \tag{1.1}" + "\n$$",
    f"[(1.1)]({SITE}/book/01_a.html#equation-eq-one) and [Fig. 1.1]({SITE}/book/01_a.html#fig-one)",
    f"[the second]({SITE}/book/02_b.html)",
    r"2\*3\*4, snake_case_name, `a|b`",
    "| one | two |\n| --- | ---: |\n| $\\vert x\\vert$ | a\\|b |",
    "<details>\n<summary>Folded</summary>\n\nSome *words*.\n\n- a list in two lines\n\n</details>",
    "> **Note**\n>\n> Noted.",
    "1. first\n\n   more\n\n2. second",
    "- **term**: its meaning",
    "**Fig. 1.1** A caption with $y$.",
    "## References\n\n- Dzmitry Bahdanau",
]


def test_what_only_myst_shows_becomes_markdown(text):
    assert [piece for piece in SHOWN if piece not in text] == []


def test_code_cells_keep_their_order_and_say_what_they_need(named):
    code = {c.id: c for c in cells_of(named) if c.cell_type == "code"}
    assert list(code) == ["install", "code", "shown", "gpu", "folded", "gone"]
    assert code["folded"].metadata == {"jupyter": {"source_hidden": True}}
    assert all(not c.metadata for name, c in code.items() if name != "folded")
    assert code["gpu"].source.splitlines()[0] == "if not torch.cuda.is_available():"
    assert code["gpu"].source.endswith("else:\n    print(x)")


def test_what_no_edition_can_hold_stops_the_build():
    from attn_markdown import Markdown
    from docutils import nodes

    error, gated = attn_edition.ExtensionError, attn_edition.gated
    refuses(error, "must print", gated, "x = 1\nx", ["gpu"])
    refuses(error, "cannot be moved", gated, 'print("""one\ntwo""")', ["gpu"])
    writer = Markdown(lambda node: None, None, None)
    refuses(NotImplementedError, "no Markdown for <raw>", writer.block, nodes.raw())
    refuses(NotImplementedError, "no Markdown for <subscript>", writer.inline, [nodes.subscript()])
    for url in ("github.com/owner/course", "https://github.com/owner", "made up"):
        said = r"repository\.url must be https://"
        refuses(attn_launch.ExtensionError, said, attn_launch.Repository, url)


@pytest.mark.parametrize("found", [True, False])
def test_a_gate_runs_the_cell_or_says_why_not(found, capsys):
    class Torch:
        class cuda:
            is_available = staticmethod(lambda: found)

    exec(attn_edition.gated("print('ran')", ["gpu", "nbval-ignore-output"]), {"torch": Torch})
    assert ("ran" in capsys.readouterr().out) is found


def first_cell(source, monkeypatch, *, package: bool):
    """Run the first cell with a shell that writes down what it is asked to install."""
    asked = []

    class Shell:
        def run_line_magic(self, name, line):
            asked.append(f"{name} {line}")

    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package or None)
    code = TransformerManager().transform_cell(source)
    exec(compile(code, "cell", "exec"), {"get_ipython": Shell})
    return asked


def install(built):
    return next(c.source for c in cells_of(built) if c.id == "install")


def test_where_the_package_is_the_first_cell_does_nothing(named, site, monkeypatch, capsys):
    for built in (named, site):
        assert first_cell(install(built), monkeypatch, package=True) == []
    assert capsys.readouterr().out == ""


def test_it_installs_from_the_sites_address_and_leaves_torch_alone(named, monkeypatch):
    needs, packages = first_cell(install(named), monkeypatch, package=False)
    assert all(c.startswith("pip install -q ") for c in (needs, packages))
    for wheel in course.wheel_names():
        assert f" {SITE}/wheels/{wheel}" in packages
    assert "--no-deps" in packages and "torch" not in packages
    assert "-U" not in needs.split() and not re.search("upgrade|[=<>]", needs)
    declared = course.project("code")["dependencies"]
    assert {re.match(r"\w+", need)[0] for need in declared} < set(needs.split())


def test_without_an_address_it_says_in_one_line_where_the_packages_are(site, monkeypatch, capsys):
    assert first_cell(install(site), monkeypatch, package=False) == []
    (line,) = capsys.readouterr().out.splitlines()
    assert "attnbook is missing here" in line and course.ZIP in line and course.LINES[1] in line


def test_with_an_address_the_buttons_lead_to_the_edition(named):
    first, extra, start = (
        (named / "book" / f"{name}.html").read_text("utf-8") for name in ("01_a", "extra", "index")
    )
    assert f'href="{COLAB}"' in first and f'href="{BINDER}"' in first
    for page in (extra, start):  # they have no edition
        assert "colab.research" not in page and "mybinder" not in page
    assert 'href="../notebooks/01_a.ipynb"' in first and "Download as notebook" in first


def test_every_gate_of_the_chapters_has_its_question():
    ast.parse("\n".join(f"{question} {says}" for question, says in attn_edition.GATES.values()))
    assert set(attn_edition.GATES) == clean.GATED


def test_a_readers_copy_is_renewed_until_it_is_changed(tmp_path):
    source = tmp_path / "html" / "notebooks"
    source.mkdir(parents=True)
    (source / "01_a.ipynb").write_text("[x](../book/01_a.html) one")
    assert lab.renew(tmp_path) == []
    copy = tmp_path / "lab" / "01_a.ipynb"
    assert copy.read_text() == "[x](../html/book/01_a.html) one"
    (source / "01_a.ipynb").write_text("two")
    assert lab.renew(tmp_path) == [] and copy.read_text() == "two"
    copy.write_text("mine")
    (source / "01_a.ipynb").write_text("three")
    assert lab.renew(tmp_path) == ["01_a.ipynb"] and copy.read_text() == "mine"


def test_the_page_has_the_form_for_phones_and_the_edition_has_not(named):
    page = (named / "book" / "01_a.html").read_text("utf-8")
    (stack,) = re.findall(
        r'<span class="attn-stack" role="img" aria-label="a picture">.*?</span>', page
    )
    sources = re.findall(r'src="([^"]*)" alt="" width="312"', stack)
    assert [source.endswith("-dark.png") for source in sources] == [False, True]
    assert all((named / "book" / source).resolve().is_file() for source in sources)
    (output,) = next(cell for cell in cells_of(named) if cell.get("id") == "shown").outputs
    assert {*output.metadata["image/png"]} == {"width", "height"}
