"""Lateness, totals, and archives that Moodle and Canvas take back."""

import re
import zipfile
from decimal import Decimal
from pathlib import PurePosixPath

import pytest
from exports import CANVAS, EXERCISE, MOODLE, MOST, WORKSHEET, mark_by_hand, record, write_results
from exports import table as rows
from hypothesis import given, settings
from hypothesis import strategies as st

from coursegrade import __main__, gradebook, gradescope, handins, late, returns

RULE = "percent_a_day = 10\ncap = 30\ngrace = '2 hours'\n"
DAY = 86400


def policy(tmp_path, text=RULE):
    path = tmp_path / "late.toml"
    path.write_text(text, encoding="utf-8")
    return late.read(path)


def test_the_policy_that_the_readme_shows_can_be_copied(tmp_path):
    readme = (EXERCISE.folder.parent / "README.md").read_text(encoding="utf-8")
    [shown, _] = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    rule = policy(tmp_path, shown)
    assert rule.lost(7200, 100) == 0 < rule.lost(7201, 100)
    assert rule.lateness == {}  # it names nobody who handed nothing in


@pytest.mark.parametrize("span, lost", [(0, 0), (7200, 0), (7201, 10), (DAY, 10), (DAY + 1, 20), (3 * DAY, 30), (9 * DAY, 30)])  # fmt: skip
def test_the_rule(tmp_path, span, lost):
    assert policy(tmp_path).lost(span, 100) == lost


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 100), st.integers(0, 100))
def test_later_never_gives_more(one, other, percent, cap):
    rule = late.Policy(Decimal(percent), Decimal(cap), 3600, None, None)
    assert 0 <= rule.lost(min(one, other), 36) <= rule.lost(max(one, other), 36) <= 36


@given(st.integers(1, 10**8))
def test_words_for_a_span_are_read_back(span):
    back = late.seconds(late.in_words(span))
    assert back <= span and late.in_words(back) == late.in_words(span)
    assert span - back < max(60, span / 24)


@pytest.mark.parametrize("text", ["2 days 3 hours late", "2 days, 3 hours", "51 hours"])
def test_spans_as_moodle_and_people_write_them(text):
    assert late.seconds(text) == 51 * 3600
    assert late.seconds("1 min 5 secs") == 65 and late.seconds("0") == 0


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "percent_a_day is needed"),
        ("percent_a_day = '10'", "must be a number"),
        ("percent_a_day = nan", "must be a number"),
        ("percent_a_day = true", "must be a number"),
        ("percent_a_day = 10\npercents = 3", "unknown: percents"),
        (RULE + "due = 2026-10-14", "with an offset"),
        (RULE + "due = 2026-10-14T23:59:00", "with an offset"),
        (RULE.replace("2 hours", "two hours"), "a span of time"),
        (RULE + "lateness = 3", "must be a table"),
        (RULE + "[lateness]\nada = '-1 day'", "a span of time"),
        ("percent_a_day", "no file of TOML"),
    ],
)
def test_a_policy_that_is_none_is_refused(tmp_path, text, says):
    with pytest.raises(ValueError, match=rf"LATE: .*{says}"):
        policy(tmp_path, text)
    with pytest.raises(ValueError, match="LATE"):
        late.read(tmp_path / "nowhere.toml")


def test_moodles_worksheet_gets_late_marks_and_comments(tmp_path, capsys):
    out, export = tmp_path / "marks", tmp_path / "sheet.csv"
    status = "Submitted for grading - 1 day 3 hours late"
    export.write_text(WORKSHEET.replace("ada@example.org,Submitted", f"ada@example.org,{status}"))
    moodle = {"source": "moodle"}
    write_results(
        out,
        record("Ada Lovelace", 20, id="123", **moodle),
        record("Grace Hopper", 7, id="78", **moodle),
        record("Nobody Neil", 7, id="999", **moodle),
    )
    mark_by_hand(out, ada="3", grace="1", nobody="1", comment='Why "so"?')
    policy(tmp_path)
    words = ["gradebook", str(out), "--roster", str(export), "--late", str(tmp_path / "late.toml")]
    assert __main__.main(words) == 0
    most = MOST + 4
    points = 23 - Decimal(most) * 20 / 100
    filled = rows(tmp_path / "sheet-filled.csv")
    assert [row["Grade"] for row in filled] == [str(points).replace(".", ","), "3,00", "8"]
    comments = [row["Feedback comments"] for row in filled]
    assert comments[0].startswith(f"<p>Total: {points} of {most} points, which is 23 less ")
    assert "Why &quot;so&quot;?</p></blockquote>" in comments[0] and "\n" not in comments[0]
    assert comments[1:] == ["", 'good, "so far"']  # a person's stays
    assert "comment left as it was: Grace Hopper" in capsys.readouterr().out
    ada, grace, nobody = rows(out / "totals.csv")
    assert nobody["points"] == "" and "nothing says how late" in nobody["why_not"]
    assert ada["points"] == str(points) and ada["before_lateness"] == "23"
    assert ada["late"] == "1 day 3 hours" and Decimal(ada["taken_off"]) == 23 - points
    assert grace["points"] == grace["before_lateness"] == "8" and grace["late"] == ""
    [path] = (out / "feedback").glob("Ada*.md")
    assert "it came 1 day 3 hours late" in path.read_text()
    again = tmp_path / "again.csv"  # a fresh export, with our comment in it
    again.write_text((tmp_path / "sheet-filled.csv").read_text())
    mark_by_hand(out, ada="4", comment="Yes.")
    path, _ = gradebook.write(out, again, policy=late.read(tmp_path / "late.toml"))
    filled = rows(path)
    assert "Yes." in filled[0]["Feedback comments"] and "Why" not in filled[0]["Feedback comments"]


def test_canvas_says_late_and_not_how_late(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_text(CANVAS)
    ada = record("lovelaceada", 20, id="55", source="canvas") | {"flags": ["late"]}
    write_results(out, ada, record("turingalan", 10, id="56", source="canvas"))
    _, filled = gradebook.write(out, export, only_auto=True, policy=policy(tmp_path))
    assert filled.marks == 1 and any("nothing says how late" in note for note in filled.notes)
    assert rows(out / "totals.csv")[0]["points"] == ""
    told = policy(tmp_path, RULE + '[lateness]\nlovelaceada_55 = "1 day"\n')
    _, filled = gradebook.write(out, export, only_auto=True, policy=told)
    assert filled.marks == 2
    assert Decimal(rows(out / "totals.csv")[0]["points"]) == 20 - Decimal(MOST) / 10
    with pytest.raises(ValueError, match="handed nothing in: nobody"):
        gradebook.write(
            out, export, only_auto=True, policy=policy(tmp_path, RULE + "[lateness]\nnobody = '0'")
        )


def test_gradescope_says_when(tmp_path):
    folder, out = tmp_path / "in", tmp_path / "marks"
    for name in ("submission_1", "submission_2"):
        (folder / name).mkdir(parents=True)
        (folder / name / "a.ipynb").write_text("{}")
    (folder / handins.GRADESCOPE).write_text(
        "submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '1'\n"
        "  :created_at: 2026-10-15 00:30:00.123456000 +02:00\n  :history:\n"
        "  - :created_at: 2020-01-01 00:00:00 Z\n    :score: 1\n"
        "submission_2:\n  :submitters:\n  - :name: Alan\n    :sid: '2'\n"
        "  :created_at: 2026-10-14 21:00:00 Z\n"
    )
    found = handins.find(folder)[0]
    assert [late.moment(one.at).isoformat() for one in found] == [
        "2026-10-15T00:30:00+02:00",
        "2026-10-14T21:00:00+00:00",
    ]
    records = [
        record(one.name, 20, id=one.id, source=one.source) | {"student": one.student, "at": one.at}
        for one in found
    ]
    write_results(out, *records)
    rule = policy(tmp_path, "percent_a_day = 10\ndue = 2026-10-14T22:00:00Z\n")
    files, _ = gradescope.write(out, tmp_path / "gs", only_auto=True, policy=rule)
    assert "It came 30 mins late: 2.8 of 20" in files[0].read_text()
    assert [row["taken_off"] for row in rows(out / "totals.csv")] == ["2.8", "0"]
    with pytest.raises(ValueError, match="needed is due"):
        late.apply(policy(tmp_path), gradebook.totals(out, True), MOST, None)
    unknown = [t._replace(result=t.result | {"at": "soon"}) for t in gradebook.totals(out, True)]
    assert [t.points for t in late.apply(rule, unknown, MOST, None)] == [None, None]


def test_a_policy_without_anything_to_go_by_is_refused(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_text(MOODLE)
    write_results(out, record("Ada Lovelace", 20, id="123", source="moodle"))
    with pytest.raises(ValueError, match="needed is the grading worksheet"):
        gradebook.write(out, export, only_auto=True, policy=policy(tmp_path))
    assert not (tmp_path / "export-filled.csv").exists()
    known = policy(tmp_path, RULE + "[lateness]\n")
    assert gradebook.write(out, export, only_auto=True, policy=known)[1].marks == 1


def moodle_reads(path):
    """Whom Moodle takes a file of the archive for: importziplib.php, is_valid_filename_for_import."""
    parts = path.split("/")
    if PurePosixPath(path).name.startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdecimal() and info[2:4] == ["assignsubmission", "file"]:
            return info[1], "/".join([*info[4:], *parts]).lstrip("/")
    return None


def canvas_reads(name):
    """User and attachment: abstract_assignment.rb, infer_comment_context_from_filename."""
    pieces = [piece for piece in name.split("_") if piece != "LATE"]
    if pieces[0] == "anon" or pieces[-1].startswith("link") or name.startswith("._"):
        return None
    return tuple([piece for piece in pieces if re.fullmatch(r"[0-9]+", piece)][:2])


names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.sampled_from(
        [
            "../../etc/x",
            "a_55_b",
            "/",
            "..",
            "~a",
            ".hidden",
            "12",
            "anon",
            "link",
            "\udcff\udce9",
            "=1+1",
            "a\\b",
        ]
    ),
)


@settings(max_examples=200, deadline=None)
@given(names, st.integers(1, 10**6), st.integers(1, 10**6), st.booleans())
def test_names_in_the_archives_are_safe_and_are_understood(name, number, file, is_late):
    one = {"name": name.encode("utf-8", "backslashreplace").decode(), "id": str(number)}
    inside, form = returns.moodle_place(one)
    assert form == "page" and moodle_reads(inside) == (str(number), "feedback.html")
    whole = name.replace("_", "") or "a"
    one["file"] = f"{whole}{'_LATE' * is_late}_{number}_{file}_my_1_link.ipynb"
    flat, form = returns.canvas_place(one)
    assert form == "notebook" and canvas_reads(flat) == (str(number), str(file))
    for path in (inside, flat):
        assert "\\" not in path and not path.startswith(".")
        assert path.isprintable() and "/" not in path


def test_the_archives_hold_everybody(tmp_path):
    out = tmp_path / "marks"
    some = [record("Ada Lovelace", 20, id="123", source="moodle"), record("ada", 3)]
    some += [
        record(name, 5, id=str(id), source="canvas") for id, name in enumerate(("a", "b", "c"))
    ]
    some[-1]["file"] = "c_2_902_work.zip"
    write_results(out, *some)
    found, content = gradebook.totals(out, True), gradebook.results(out)
    notes = returns.write(out, content, found, returns.stories(out, content, found, True))
    assert notes == ["not in feedback-canvas.zip: c_2, send it yourself"]
    with zipfile.ZipFile(out / "feedback-moodle.zip") as archive:
        [name] = archive.namelist()
        assert moodle_reads(name) == ("123", "feedback.html")
        assert b"Total: 20 of" in archive.read(name)
    with zipfile.ZipFile(out / "feedback-canvas.zip") as archive:
        assert sorted(map(canvas_reads, archive.namelist())) == [("0", "900"), ("1", "901")]
        assert all('"nbformat": 4' in archive.read(name).decode() for name in archive.namelist())
    first = (out / "feedback-moodle.zip").read_bytes()
    returns.write(out, content, found, returns.stories(out, content, found, True))
    assert (out / "feedback-moodle.zip").read_bytes() == first


def test_totals_hold_no_formula(tmp_path):
    write_results(
        tmp_path, record("=cmd()", 3), record("+x", status="unreadable") | {"problem": "@x"}
    )
    found, content = gradebook.totals(tmp_path, True), gradebook.results(tmp_path)
    returns.write(tmp_path, content, found, returns.stories(tmp_path, content, found, True))
    for row in rows(tmp_path / "totals.csv"):
        assert not any(value.startswith(("=", "+", "@")) for value in row.values()), row


DUE = RULE + "due = 2026-10-14T22:00:00Z\n"
OWN = "[due_dates]\nx = {}\n"


def known(source, **more):
    """A total of a hand-in by x, of which no more is known than a source tells."""
    one = record("x", 20, source=source) | {"student": "x", "at": "2026-10-16 22:00:00 Z"} | more
    return [gradebook.Total(one, Decimal(20), "", Decimal(20))]


@pytest.mark.parametrize(
    "source, more, told, text, span",
    [
        # Gradescope knows the moment: two days late, for all
        ("gradescope", {}, None, DUE, 2 * DAY),
        ("gradescope", {}, None, DUE + OWN.format("2026-10-16T23:00:00Z"), 0),
        ("gradescope", {}, None, DUE + OWN.format("2026-10-16T12:00:00+02:00"), 12 * 3600),
        ("gradescope", {}, None, RULE + OWN.format("2026-10-16T12:00:00+02:00"), 12 * 3600),
        ("gradescope", {}, None, DUE + OWN.format("'1 day'"), DAY),
        ("gradescope", {}, None, DUE + OWN.format("'1 day'") + "[lateness]\nx = '3 days'", 2 * DAY),
        ("gradescope", {"at": "soon"}, None, DUE + OWN.format("'1 day'"), None),
        # Moodle's worksheet knows how late
        ("moodle", {}, {"x": "2 days 3 hours late"}, RULE + OWN.format("'2 days'"), 3 * 3600),
        ("moodle", {}, {"x": "2 days 3 hours late"}, RULE + OWN.format("'1 week'"), 0),
        ("moodle", {}, {"x": ""}, RULE + OWN.format("'1 week'"), 0),
        ("moodle", {}, {"x": "3 days"}, DUE + OWN.format("2026-10-16T22:00:00Z"), DAY),
        ("moodle", {}, {}, RULE + OWN.format("'2 days'"), None),
        # Canvas knows that it was late, lateness how late
        ("canvas", {"flags": ["late"]}, None, RULE + OWN.format("'2 days'"), None),
        ("canvas", {}, None, RULE + OWN.format("'2 days'"), 0),
        ("canvas", {"flags": ["late"]}, None, RULE + OWN.format("'2 days'") + "[lateness]\nx = '3 days'", DAY),
        ("folder", {}, None, RULE + OWN.format("'2 days'") + "[lateness]\nx = '3 days'", DAY),
        ("folder", {}, None, RULE + OWN.format("'2 days'") + "[lateness]\n", 0),
        ("folder", {}, None, DUE + OWN.format("2026-10-16T22:00:00Z") + "[lateness]\nx = '3 days'", DAY),
        ("folder", {}, None, RULE + OWN.format("2026-10-16T22:00:00Z") + "[lateness]\nx = '0'", 0),
    ],
)  # fmt: skip
def test_a_due_date_of_ones_own(tmp_path, source, more, told, text, span):
    rule = policy(tmp_path, text)
    [total] = late.apply(rule, known(source, **more), 20, told)
    lost = rule.lost(span or 0, 20)
    assert total.late == (span or 0) and total.points == (None if span is None else 20 - lost)
    assert bool(total.extension) == ("due_dates" in text)


@pytest.mark.parametrize(
    "source, told, text, says",
    [
        ("gradescope", None, RULE + OWN.format("'2 days'"), "needed is due"),
        ("folder", None, RULE + OWN.format("'2 days'"), "needed is the table lateness"),
        ("moodle", None, RULE + OWN.format("'2 days'"), "needed is the grading worksheet"),
        ("moodle", {"x": "3 days"}, RULE + OWN.format("2026-10-16T22:00:00Z"), "only how late x was"),
        ("canvas", None, RULE + OWN.format("2026-10-16T22:00:00Z") + "[lateness]\nx = '1 day'", "only how"),
    ],
)  # fmt: skip
def test_a_due_date_that_cannot_be_counted_from_is_refused(tmp_path, source, told, text, says):
    with pytest.raises(ValueError, match=f"LATE: .*{says}"):
        late.apply(policy(tmp_path, text), known(source), 20, told)


@pytest.mark.parametrize(
    "value", ["2026-10-17", "2026-10-17T10:00:00", "3", "'soon'", "'2026-10-17T10:00:00Z'", "['x']"]
)
def test_a_due_date_that_is_none_is_refused(tmp_path, value):
    with pytest.raises(ValueError, match="due_dates of x must be a moment with an offset"):
        policy(tmp_path, RULE + OWN.format(value))
    with pytest.raises(ValueError, match=r"LATE: .*before due"):
        policy(tmp_path, DUE + OWN.format("2025-10-16T22:00:00Z"))
    with pytest.raises(ValueError, match="due_dates must be a table"):
        policy(tmp_path, RULE + "due_dates = 3")


def test_an_extension_is_told_and_who_has_no_hand_in_is_said(tmp_path, capsys):
    out, export = tmp_path / "marks", tmp_path / "sheet.csv"
    status = "Submitted for grading - 4 days 3 hours late"
    export.write_text(WORKSHEET.replace("ada@example.org,Submitted", f"ada@example.org,{status}"))
    moodle = {"source": "moodle"}
    write_results(out, record("Ada Lovelace", 20, id="123", **moodle))
    mark_by_hand(out, ada="3")
    policy(tmp_path, RULE + '[due_dates]\n"Ada Lovelace_123" = "3 days"\nbob = "1 day"\n')
    words = ["gradebook", str(out), "--roster", str(export), "--late", str(tmp_path / "late.toml")]
    assert __main__.main(words) == 0
    assert "due_dates: no hand-in of bob" in capsys.readouterr().out
    [ada] = rows(out / "totals.csv")
    assert (ada["extension"], ada["late"]) == ("3 days", "1 day 3 hours")
    assert (ada["before_lateness"], ada["taken_off"]) == ("23", "6.4")
    [path] = (out / "feedback").glob("Ada*.md")
    assert "it came 1 day 3 hours late, after an extension (3 days)." in path.read_text()
    (tmp_path / "sheet-filled.csv").unlink()
    granted = f"{status} - Extension granted until: Friday, 16 October 2026, 11:59 PM"
    export.write_text(export.read_text().replace(status, f'"{granted}"'))
    assert __main__.main(words) == 2
    assert "Moodle counts from the extension that it granted" in capsys.readouterr().err
    assert not (tmp_path / "sheet-filled.csv").exists()
