"""Launch buttons and the install cell: there with an address, gone without one."""

import copy
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "code" / "tools"))

import check  # noqa: E402
import clean  # noqa: E402
import stamp  # noqa: E402
from build import build  # noqa: E402

URL = "https://github.com/owner/course"
REPOSITORY = stamp.Repository(URL, "main")
COLAB = "https://colab.research.google.com/github/owner/course/blob/main/book/01_a.ipynb"
BINDER = "https://mybinder.org/v2/gh/owner/course/main?urlpath=lab/tree/book/01_a.ipynb"


def notebook(title="A"):
    cells = [
        new_markdown_cell(f"# {title}\n\nText.", id="text"),
        new_code_cell("x = 1", execution_count=1, id="code"),
    ]
    return clean.clean(new_notebook(cells=cells), "01_a")


def sources(nb):
    return [cell.source for cell in nb.cells]


def stamped(nb=None):
    nb = stamp.stamp(nb or notebook(), REPOSITORY, "book/01_a.ipynb")
    return clean.clean(nb, "01_a")


def test_a_stamp_comes_goes_and_comes_once():
    plain, once = notebook(), stamped()
    assert len(once.cells) == len(plain.cells) + 2
    assert stamped(copy.deepcopy(once)) == once
    removed = stamp.stamp(copy.deepcopy(once), None, "book/01_a.ipynb")
    assert clean.clean(removed, "01_a") == plain
    assert check.problems(once) == []


def test_a_stamp_of_another_address_is_replaced():
    other = stamp.stamp(stamped(), stamp.Repository(f"{URL}-2", "stable"), "book/01_a.ipynb")
    assert len(other.cells) == 4
    text = "\n".join(sources(other)[:2])
    assert "course-2" in text and "@stable" in text and "course/" not in text


def test_the_links_lead_to_this_notebook():
    assert sources(stamped())[0] == f"[Open in Colab]({COLAB}) · [Open in Binder]({BINDER})"


@pytest.mark.parametrize("url", ["github.com/owner/course", "https://github.com/owner", "made up"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match=r"repository\.url must be https://"):
        stamp.Repository(url, "main")


def run_install_cell(monkeypatch, *, on_colab: bool) -> list[str]:
    """Run the cell with a shell that only writes down what it is asked to install."""
    asked = []

    class Shell:
        def run_line_magic(self, name, line):
            asked.append(f"{name} {line}")

    modules = {k: v for k, v in sys.modules.items() if k != "google.colab"}
    monkeypatch.setattr(sys, "modules", modules | ({"google.colab": sys} if on_colab else {}))
    code = TransformerManager().transform_cell(sources(stamped())[1])
    exec(compile(code, "cell", "exec"), {"get_ipython": Shell})
    return asked


def test_the_install_cell_does_nothing_elsewhere(monkeypatch):
    assert run_install_cell(monkeypatch, on_colab=False) == []


def test_on_colab_it_installs_the_package_and_leaves_torch_alone(monkeypatch):
    commands = run_install_cell(monkeypatch, on_colab=True)
    assert all(c.startswith("pip install -q ") for c in commands)
    (package,) = [c for c in commands if "attnbook" in c]
    assert "--no-deps" in package and f"git+{URL}@main#subdirectory=code" in package
    assert stamp.peer_pin() in package
    assert not re.search(r"\btorch\b", " ".join(commands))
    asked = set(" ".join(commands).split())
    declared = (ROOT / "code" / "pyproject.toml").read_text(encoding="utf-8")
    needs = set(re.findall(r'^    "([a-z]+)[^"]*",$', declared, re.MULTILINE))
    assert "sacrebleu" in needs
    assert needs - asked == {"torch", "numpy", "matplotlib", "ipywidgets", "tqdm"}  # Colab's own


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.ipynb")), ids=lambda p: p.name)
def test_the_committed_notebooks_have_the_stamp_of_the_settings(path):
    nb = nbformat.read(path, as_version=4)
    place = path.relative_to(ROOT).as_posix()
    assert sources(stamp.stamp(copy.deepcopy(nb), stamp.configured(), place)) == sources(nb)


def small_book(folder, url):
    """Two chapters, the first of them stamped, with this book's settings and an address."""
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    settings, count = re.subn(r'^  url: ".*"$', f'  url: "{url}"', settings, flags=re.MULTILINE)
    assert count == 1
    (folder / "_config.yml").write_text(settings, encoding="utf-8")
    for part in ("_ext", "_site"):
        shutil.copytree(ROOT / "book" / part, folder / "book" / part)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    chapters = "".join(f"      - file: book/{name}\n" for name in ("01_a", "02_b"))
    toc = f"format: jb-book\nroot: book/index\nparts:\n  - numbered: 1\n    chapters:\n{chapters}"
    (folder / "_toc.yml").write_text(toc, encoding="utf-8")
    (folder / "book" / "index.md").write_text("# Start\n\nText.", encoding="utf-8")
    nbformat.write(stamped() if url else notebook(), folder / "book" / "01_a.ipynb")
    nbformat.write(notebook("B"), folder / "book" / "02_b.ipynb")
    done = build(folder, folder)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder / "_build" / "html" / "book"


def test_with_an_address_the_pages_have_buttons_and_the_download_the_cell(tmp_path):
    site = small_book(tmp_path, URL)
    first, second, start = (
        (site / f"{name}.html").read_text(encoding="utf-8") for name in ("01_a", "02_b", "index")
    )
    assert f'href="{COLAB}"' in first and f'href="{BINDER}"' in first
    assert "google.colab" not in first and "Open in Colab" not in first  # the site hides the cells
    assert "colab.research" not in second  # its notebook would not run there
    assert "mybinder.org" in second and "mybinder.org" not in start
    for image in re.findall(r'<img[^>]*src="([^"]*logo_[^"]*)"', first):
        assert (site / image).resolve().is_file()  # no picture of another host
    assert 'href="../_sources/book/01_a.ipynb"' in first and "Download as notebook" in first
    download = (site.parent / "_sources/book/01_a.ipynb").read_text(encoding="utf-8")
    assert "subdirectory=code" in download


def test_without_an_address_there_is_neither(tmp_path):
    site = small_book(tmp_path, "")
    for name in ("01_a", "02_b"):
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert "colab.research" not in text and "mybinder" not in text
        assert "Download as notebook" in text
        assert "google.colab" not in (site.parent / f"_sources/book/{name}.ipynb").read_text()
