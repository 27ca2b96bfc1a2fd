"""Formulas are set at the end of a build, all in one call of Node, which never stays behind."""

import os
import shutil
import sys
from types import SimpleNamespace

import attn_math
import pytest
from attnbook_testing.books import small_book
from bs4 import BeautifulSoup
from sphinx.errors import ExtensionError


def built(folder, exception=None, kind="html"):
    """What Sphinx hands to the end of a build."""
    app = SimpleNamespace(outdir=folder, builder=SimpleNamespace(format=kind))
    attn_math.set_formulas(app, exception)


def test_a_formula_is_there_for_the_eye_for_a_reader_and_for_who_copies_it(tmp_path):
    page = tmp_path / "sub" / "a.html"
    page.parent.mkdir()
    inline = attn_math.keep_place("a<b")
    page.write_text(f"{inline}{attn_math.keep_place('x_{é}', {'displayMode': True})}", "utf-8")
    built(tmp_path)
    soup = BeautifulSoup(page.read_text("utf-8"), "lxml")
    assert [node.get_text() for node in soup.select("annotation")] == ["a<b", "x_{é}"]
    assert [m.get("display") for m in soup.select(".katex-mathml > math")] == [None, "block"]
    assert [n["aria-hidden"] for n in soup.select(".katex-html")] == ["true", "true"]
    assert len(soup.select("span > .katex-display")) == 1 and not soup.find("attn-tex")


@pytest.mark.parametrize("exception, kind", [(OSError(), "html"), (None, "latex")])
def test_a_build_that_failed_or_makes_no_pages_is_left_alone(tmp_path, exception, kind):
    (tmp_path / "a.html").write_text(attn_math.keep_place("x"), "utf-8")
    built(tmp_path, exception, kind)
    assert (tmp_path / "a.html").read_text("utf-8") == attn_math.keep_place("x")


def test_formulas_of_all_pages_are_set_in_one_call_and_each_once(tmp_path, monkeypatch):
    for name in "ab":
        (tmp_path / f"{name}.html").write_text(attn_math.keep_place("x") * 2, "utf-8")
    calls, plain = [], attn_math.typeset
    monkeypatch.setattr(attn_math, "typeset", lambda given: calls.append(given) or plain(given))
    built(tmp_path)
    assert calls == [[(False, "x")]]
    assert (tmp_path / "b.html").read_text("utf-8").count('class="katex"') == 2
    (tmp_path / "a.html").write_text("no formula", "utf-8")
    (tmp_path / "b.html").unlink()
    built(tmp_path)
    assert len(calls) == 1


def test_a_wrong_formula_fails_the_build_and_names_its_page(tmp_path):
    done = small_book(tmp_path, {"index": "# Start\n\n$\\frac{1$ and $\\nothing$", "01_a": "# A"})
    assert done.returncode != 0
    assert "wrong formulas" in done.stdout
    assert "index: KaTeX parse error" in done.stdout and r"\nothing" in done.stdout


def test_a_node_that_hangs_is_ended_and_the_build_fails(monkeypatch, tmp_path):
    note = tmp_path / "pid"
    script = f'require("fs").writeFileSync({str(note)!r}, `${{process.pid}}`); setInterval(()=>0,9)'
    monkeypatch.setattr(attn_math, "SET", script)
    monkeypatch.setattr(attn_math, "PATIENCE", 2)
    with pytest.raises(ExtensionError, match="more than 2 seconds"):
        attn_math.typeset([(False, "x")])
    if sys.platform != "win32":
        with pytest.raises(ProcessLookupError):
            os.kill(int(note.read_text("utf-8")), 0)


def test_a_node_that_stops_says_why(monkeypatch):
    monkeypatch.setattr(attn_math, "SET", 'throw new Error("no memory")')
    with pytest.raises(ExtensionError, match="no memory"):
        attn_math.typeset([(False, "x")])


def test_without_playwright_a_node_on_the_path_will_do_and_without_one_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "playwright", None)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert attn_math.find_node() == "/usr/bin/node"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ExtensionError, match=r"no Node .* requirements\.txt"):
        attn_math.find_node()
