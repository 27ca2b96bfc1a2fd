"""The grammar corpus judged from outside: all its French through the checker of Grammalecte."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

import pytest

from attnbook.data import grammar_corpus
from grammar import french_text

CHECKER = shutil.which("grammalecte-cli")
PROCESSES = 2
PASSED = (  # sha256 of the sentences that passed when all were checked
    "41e5184b7b60fdbf771f8f15bebe9f4dfa40552e479c31785e4a6401358329c1"
)
FALSE_ALARMS = {  # rule: what it flags in its sentence (between brackets)
    # takes the verb of 'a chaud' or 'a porté' after a noun for the preposition 'à'
    r"conf_substantif_à_substantif|conf_à_a_locutions":
        r"\[a\] (chaud|froid|faim|soif|raison|tort|portée?s?)\b",
    # takes a noun or an adjective for a participle, or misses the plural object before it
    r"ppas_(pronom|det_nom)_avoir":
        r"\b(pas de|n’y a) .*\[\w+\]|\b(que|qu’il|qu’elle) .*\ba \[\w+s\]",
    # takes the noun for a form of the verb that is spelt like it ('robes', 'livres')
    r"conj_certains_certaines_plusieurs_nom": r"[Pp]lusieurs \w+[sx] \[\w+s\]",
    # takes the pronoun before the verb 'visite' for the article of a noun
    r"gn_le_1m": r"\[le\] visite\b|\ble \[visite\]",
    # wants an adjective of the second noun to agree with both
    r"gn_det_nom_(mas|fem)_et_det_nom": r"\w+ et \w+ (\w+ )?\[\w+\]",
    # sees only the second of two subjects, and not the man before it
    r"ppas_det_plur_se_être_verbe":
        r" (père|frère|roi|oncle|homme|garçon|\w+[rt]) et les .* se sont \[\w+s\]",
    # takes the noun 'boulanger' for an infinitive
    r"conf_vinfi_adj": r"[Qq]uel \w+ \[boulanger\]",
}  # fmt: skip


class Flag(NamedTuple):
    """An error that the checker reports."""

    rule: str
    context: str  # the sentence with brackets around what is flagged
    message: str


def check(texts, folder):
    """Give the flags of these sentences; each is a paragraph, and paragraphs are numbered."""
    parts = [texts[i::PROCESSES] for i in range(PROCESSES)]
    running = []
    for i, part in enumerate(parts):
        path = folder / f"part{i}.txt"
        path.write_text("\n\n".join(part) + "\n", "utf-8")
        command = [CHECKER, "-f", str(path), "-j", "-owe"]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8"))
    flags = []
    for part, process in zip(parts, running, strict=True):
        output = process.communicate()[0]
        assert process.returncode == 0
        for row in json.loads(output)["data"]:
            text = part[(row["iParagraph"] - 1) // 2]
            for error in row["lGrammarErrors"]:
                a, b = error["nStart"], error["nEnd"]
                context = f"{text[:a]}[{text[a:b]}]{text[b:]}"
                flags.append(Flag(error["sRuleId"], context, error["sMessage"]))
            for error in row["lSpellingErrors"]:
                flags.append(Flag("spelling", text, error["sValue"]))
    return flags


def is_false_alarm(flag):
    return any(
        re.search(rule, flag.rule) and re.search(where, flag.context)
        for rule, where in FALSE_ALARMS.items()
    )


@pytest.fixture(autouse=True, scope="module")
def _checker():
    if CHECKER is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("grammalecte-cli is missing: .ci/run installs it")
        pytest.skip("grammalecte-cli is not installed (Debian package of that name)")


def test_every_french_sentence_is_correct(tmp_path):
    """All of them when the corpus has changed; else one in 24 of those that all passed."""
    texts = sorted({french_text(pair.target) for part in grammar_corpus() for pair in part})
    assert len(texts) > 20_000
    if hashlib.sha256("\n".join(texts).encode()).hexdigest() == PASSED:
        texts = texts[::24]
    flags = check(texts, tmp_path)
    assert [flag for flag in flags if not is_false_alarm(flag)] == []
    assert len(flags) < 60  # a list of exceptions that excuses many is no list of exceptions


WRONG = (
    "Le maison rouge est grande.",
    "Les petits chat mange la pomme.",
    "Je ne vois pas la pommme.",
    "Elle est parti hier.",
    "Elles mange du pain.",
    "Si il vient, je pars.",
    "Il a manger la pomme.",
    "Les lettres que j’ai écrit sont longues.",
)


def test_the_checker_sees_errors(tmp_path):
    flags = [
        flag for flag in check([*WRONG, "Le chat dort."], tmp_path) if not is_false_alarm(flag)
    ]
    seen = {flag.context.replace("[", "").replace("]", "") for flag in flags}
    assert seen == set(WRONG)
