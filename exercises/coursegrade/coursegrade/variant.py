"""An exercise's variant for a year, a group or a student: other names, numbers and parameters.

`variants.toml` in the exercise's folder says what may differ, as texts that stand in its files and
lists of what may stand there instead. One item of each list is drawn by a word such as "2027", and
a whole folder is written: every command works on it as on the first one.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from .exercise import EXAMPLES, FORM, Exercise

NAMES = "names"  # the table of functions' names; the others hold texts


def draws(exercise: Exercise, word: str) -> tuple[dict[str, str], dict[str, str]]:
    """New names by old ones, and new texts by old ones.

    A list of the table `numbers` is drawn by itself; those of any other table are drawn together.

    Raises:
        ValueError: the exercise has no variants, or its table does not fit its files.
    """
    import tomllib  # Python 3.11

    path = exercise.folder / "variants.toml"
    if not path.is_file():
        raise ValueError(f"{exercise.name} has no variants.toml")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise ValueError(f"{path}: {problem}") from None
    names, texts, wrong = {}, {}, []
    files = "\n".join(_files(exercise).values())
    for table, lists in tables.items():
        together = table not in (NAMES, "numbers")
        if together and len({len(items) for items in lists.values()}) > 1:
            wrong.append(f"[{table}]: its lists differ in length")
        for old, items in lists.items():
            drawn = items[_drawn(word, table if together else f"{table}/{old}", len(items))]
            (names if table == NAMES else texts)[old] = drawn
            if not re.search(_name(old) if table == NAMES else _text(old), files):
                wrong.append(f"[{table}]: {old!r} stands in none of its files")
    if len(set(names.values())) < len(names):
        wrong.append("[names]: two functions get one name")
    if wrong:
        raise ValueError(f"{path}:\n  " + "\n  ".join(wrong))
    return names, texts


def _drawn(word: str, what: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{word}/{what}".encode()).digest()[:7], "big") % number


def _name(name: str) -> str:
    """Where a name is code and no word of the text: called, after a dot, alone in `, " or [ ]."""
    by_itself = "|".join(rf"(?<={a}){name}(?={b})" for a, b in ("``", '""', (r"\[", r"\]")))
    return rf"(?<!\w){name}(?=\()|(?<=\.){name}(?!\w)|{by_itself}"


def _text(old: str) -> str:
    """A text as it stands there; a number or a word is not part of a longer one."""
    before = r"(?<![\w.])" if old[0].isdigit() else r"(?<!\w)" if re.match(r"\w", old) else ""
    after = r"(?!\w|\.\d)" if re.search(r"\w$", old) else ""
    return before + re.escape(old) + after


def change(text: str, names: dict[str, str], texts: dict[str, str]) -> str:
    """A file with its texts changed at once, so that none meets what another one wrote; then names.

    Where two old texts begin at one place, the longer one counts.
    """
    longest = sorted(texts, key=len, reverse=True)
    found = "|".join(f"({_text(old)})" for old in longest) or r"(?!)"
    text = re.sub(found, lambda match: texts[longest[match.lastindex - 1]], text)
    pattern = "|".join(f"({_name(old)})" for old in names) or r"(?!)"
    return re.sub(pattern, lambda match: names[match[0]], text)


def write(exercise: Exercise, word: str, out: Path) -> Path:
    """Write the variant's folder, OUT/NAME: the source, both files of tests, and the mutants.

    Raises:
        ValueError: as `draws`; or the folder is there already.
    """
    names, texts = draws(exercise, word)
    folder = Path(out) / exercise.name
    if folder.exists():
        raise ValueError(f"OUT: {folder} is there already and is not overwritten")
    folder.mkdir(parents=True)
    for name, text in _files(exercise).items():
        (folder / name).write_text(change(text, names, texts), encoding="utf-8")
    (folder / FORM).write_text(f"{word}\n", encoding="utf-8")
    return folder


def _files(exercise: Exercise) -> dict[str, str]:
    """What a variant's folder holds, by name, as it stands in the first form."""
    names = (f"{exercise.name}.py", "test_public.py", "test_hidden.py", EXAMPLES)
    read = {name: (exercise.folder / name).read_text(encoding="utf-8") for name in names}
    # without the last table, the correct answers: they are those of the first form
    return read | {EXAMPLES: read[EXAMPLES].partition("\n[correct]")[0]}
