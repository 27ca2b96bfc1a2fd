"""What a cell uses of the package, read from its code."""

import ast

import pytest

pytest.importorskip("sphinx")

import attn_api


def names(code):
    tree = ast.parse(code)
    return set(attn_api.used(tree, attn_api.imported(tree)))


@pytest.mark.parametrize(
    "code, found",
    [
        ("import attnbook as ab\nab.dot(q, k)", {("dot", False)}),
        (
            "import attnbook as ab\nab.plots.heatmap(w)",
            {("plots", False), ("plots.heatmap", False)},
        ),
        ("from attnbook import metrics\nmetrics.bleu(a, b)", {("metrics.bleu", False)}),
        ("from attnbook.data import tokenize as cut\ncut(s)", {("data.tokenize", False)}),
        ("import torch as ab\nab.dot(q, k)", set()),  # the name of another package
        ("import attnbook as ab\ntext = 'ab.dot'  # ab.dot", set()),  # no code
    ],
)
def test_names_of_a_cell(code, found):
    assert {pair for pair in names(code) if pair[0] != "metrics"} == found


def test_shown_code_is_told_from_use():
    code = "import attnbook as ab\nab.show_source(ab.dot)\nab.cosine(q, k)"
    assert {("dot", True), ("cosine", False)} <= names(code)
    assert ("cosine", True) not in names(code)


def test_a_bar_in_a_docstring_is_a_bar():
    lines = ["minus |q - k| / 2, as in `a | b`"]
    attn_api.prepare_docstring(None, "module", "attnbook.scores", None, None, lines)
    assert lines == [r"minus \|q - k\| / 2, as in `a | b`"]


def test_indented_lines_of_a_module_are_code():
    lines = [
        "Asked in two moves:",
        "",
        "    a = f(x | y)",
        "    b = g(a)",
        "",
        "- a point",
        "  of it",
    ]
    attn_api.prepare_docstring(None, "module", "attnbook.transformer", None, None, lines)
    assert lines == [
        *["Asked in two moves:", "", "::", "", "    a = f(x | y)", "    b = g(a)"],
        *["", "- a point", "  of it"],
    ]
