"""The instructor's own export comes back with one column filled, and nothing else changed."""

import csv
import io
import json
import re
from decimal import Decimal

import pytest
from exports import CANVAS, MOODLE, MOST, WORKSHEET, mark_by_hand, record, write_results
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coursegrade import (
    __main__,
    gradebook,
    gradescope,
    handins,
    reports,
    roster,
    safe,
    written,
)
from coursegrade.groups import Groups
from coursegrade.tables import Table
from coursegrade.task import FAULT, UNREADABLE


def cells(raw, column, encoding="utf-8"):
    rows = list(csv.reader(io.StringIO(raw.decode(encoding), newline="")))
    place = rows[0].index(column)
    return [row[place] for row in rows]


def book_of(text, groups=None):
    return roster.Roster(Table(text.encode(), roster.shape_of), groups)


def test_a_canvas_export_is_filled_by_number(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_bytes(CANVAS.encode())
    canvas = {"source": "canvas"}
    write_results(
        out,
        record("lovelaceada", 20, id="55", **canvas),
        record("turingalanm", 10, id="56", **canvas),
        record("hoppergrace", 9, id="57", **canvas),
        record("noetheremmy", id="58", status=FAULT, **canvas),
        record("nobodyneil", 8, id="59", **canvas),
    )
    mark_by_hand(out, lovelaceada="3.5", turingalanm="4", hoppergrace="0", nobodyneil="1")
    path, filled = gradebook.write(out, export)
    assert path == tmp_path / "export-filled.csv" and export.read_bytes() == CANVAS.encode()
    wanted = CANVAS.replace('"A and B",""', '"A and B","23.5"').replace('"A","3.00"', '"A","14"')
    assert path.read_bytes() == wanted.encode()
    assert filled.marks == 2 and filled.column == "Exercises 1 (901)"
    for said in (
        *("not in the roster: nobodyneil_59", "no hand-in: Student, Test"),
        *("left as it was: Noether, Emmy (fault", "replaced: Turing, Alan M. had 3.00, has 14 now"),
        "left as it was: Hopper, Grace (the cell says 'EX')",
    ):
        assert any(said in note for note in filled.notes), (said, filled.notes)
    assert len(filled.notes) == 5
    again, _ = gradebook.write(out, export)
    assert again.name == "export-filled-2.csv" and again.read_bytes() == path.read_bytes()


def test_a_moodle_export_is_filled_by_name_and_namesakes_are_nobodys(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_bytes(MOODLE.encode())
    moodle = {"source": "moodle"}
    write_results(
        out,
        record("Ada Lovelace", 20, id="123", **moodle),
        record("Alan OTuring", 5, id="77", **moodle),  # as Moodle's file names have it
        record("Grace Hopper", 6, id="78", **moodle),
    )
    path, filled = gradebook.write(out, export, only_auto=True)
    wanted = MOODLE.replace("ada@example.org,-", "ada@example.org,20")
    wanted = wanted.replace("alan@example.org,12.00", "alan@example.org,5")
    assert path.read_bytes() == wanted.encode() and filled.marks == 2
    assert any("Grace Hopper_78 may be any of" in note for note in filled.notes)
    assert not any(note.startswith("no hand-in") for note in filled.notes)


def test_a_grading_worksheet_is_filled_by_the_participants_number(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "sheet.csv"
    export.write_bytes(b"\xef\xbb\xbf" + WORKSHEET.replace("\n", "\r\n").encode())
    moodle = {"source": "moodle"}
    write_results(
        out,
        record("Participant", 20, id="123", **moodle),  # a blind assignment names nobody
        record("Alan Turing", 5, id="77", **moodle),
        record("Grace Hopper", 6, id="999", **moodle),  # another one of that name
    )
    mark_by_hand(out, participant="2,5", alan="1", grace="1")
    path, filled = gradebook.write(out, export)
    comment = f"<p>Total: 22.5 of {MOST + 4} points.</p><p>Automatic part: 20 of {MOST} points.</p>"
    wanted = WORKSHEET.replace("Submitted,,", 'Submitted,"22,5",', 1)
    wanted = wanted.replace("Yes,-,\n", f"Yes,-,{comment}<h2>Q5: 2.5 of 4</h2>\n", 1)
    assert path.read_bytes() == b"\xef\xbb\xbf" + wanted.replace("\n", "\r\n").encode()
    assert any("Alan Turing (Moodle says" in note for note in filled.notes)
    assert "not in the roster: Grace Hopper_999" in filled.notes


@pytest.mark.parametrize("name", ["ada", "S1", "Ada Lovelace", "Lovelace, Ada", "ADA", "55"])
def test_a_folder_may_be_called_by_any_identifier(name):
    book = book_of(CANVAS)
    assert [person.label for person in book.find(record(name))] == ["Lovelace, Ada"]


def test_numbers_of_another_system_find_nobody():
    """Participant 55 of Moodle is not user 55 of Canvas."""
    canvas = book_of(CANVAS)
    assert canvas.find(record("Emil Post", id="55", source="moodle")) == []
    sheet = book_of(WORKSHEET)
    assert sheet.find(record("lovelaceada", id="123", source="canvas")) == []


def canvas_record(file):
    [one] = [handins._named(n.name, n.id, n.late, "canvas") for n in handins.canvas(file)[:1]]
    return record(one.name, id=one.id, source="canvas") | {"file": file}


GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
"Lovelace, Ada",55,S1,ada,A,Group 1,7,
"Turing, Alan M.",56,S2,alan,A,Group 1,7,
"Hopper, Grace",57,S3,grace,A,Team_58,8,
"Noether, Emmy",58,S4,emmy,B,,,
"Gone, Long",60,S6,long,B,Group 1,7,
"""


@pytest.mark.parametrize(
    "file, alone, with_groups",
    [
        ("lovelaceada_55_901_01_cues.ipynb", "55", "55"),
        ("lovelaceada_LATE_55_901_56_57_x.ipynb", "55", "55"),
        ("lovelaceada_55_901_58_902_x.ipynb", "55", "55"),
        ("alanmturing_56_901_01_cues.ipynb", "56", "56"),  # names may begin with the first
        ("group1_55_901_x.ipynb", "55", "55 56"),  # told, see below
        ("group1_56_901_01_cues.ipynb", "", "55 56"),
        ("team_58_57_901_01_cues.ipynb", "", "57"),  # of Team_58, not of user 58
        ("team_58_57_901_x.ipynb", "", "57"),
        ("group1_57_901_x.ipynb", "57", ""),  # who is not in that group
        ("anon_ab55c_901_x.ipynb", "", ""),
        ("anon_55_901_x.ipynb", "", ""),
        ("strangerx_61_901_01_cues.ipynb", "", ""),
        ("strangerx_61_55_56_x.ipynb", "", ""),  # a file's number is nobody's
    ],
)
def test_a_mark_stays_with_its_owner(tmp_path, file, alone, with_groups):
    (tmp_path / "g.csv").write_text(GROUPS)
    for groups, wanted in ((None, alone), (Groups(tmp_path / "g.csv"), with_groups)):
        book = book_of(CANVAS, groups)
        people, why, _ = book.owners(canvas_record(file))
        assert [one.number for one in people if not why] == wanted.split()
        total = gradebook.Total(canvas_record(file), Decimal(9), "")
        filled = gradebook.fill(book, [total], 6)  # a column without marks
        assert filled.marks == len(wanted.split())
        known = {one.number for one in people} | {"60"}
        assert len(known) > 1 or any("not in the roster" in note for note in filled.notes)
        assert wanted or any(note.startswith(("left", "not in")) for note in filled.notes)


def test_all_of_a_group_get_its_mark_and_a_table_of_groups_is_needed_for_it(tmp_path, capsys):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_text(CANVAS)
    (tmp_path / "g.csv").write_text(GROUPS)
    write_results(out, canvas_record("group1_56_901_01_cues.ipynb"))
    words = ["gradebook", str(out), "--roster", str(export), "--only-auto"]
    assert __main__.main(words) == 0
    assert "left as it was: group1_56 has the number of Turing" in capsys.readouterr().out
    assert __main__.main([*words, "--groups", str(tmp_path / "g.csv")]) == 0
    got = cells((tmp_path / "export-filled-2.csv").read_bytes(), "Exercises 1 (901)")
    assert got[3:] == [str(MOST), str(MOST), "EX", "", ""]
    assert __main__.main([*words, "--groups", str(export)]) == 2
    assert "is not Canvas's group set" in capsys.readouterr().err
    export.write_text(WORKSHEET)
    assert __main__.main([*words, "--groups", str(tmp_path / "g.csv")]) == 2
    assert "GROUPS goes with Canvas's export" in capsys.readouterr().err


def test_moodle_has_a_file_for_each_of_a_group(tmp_path):
    book = book_of(WORKSHEET)
    one = record("Group 1-Ada Lovelace", id="123", source="moodle")
    assert [person.label for person in book.owners(one).people] == ["Ada Lovelace"]
    export = book_of(MOODLE)
    assert export.owners(one).people == []  # by the name alone she is not known


def test_two_hand_ins_of_one_student_fill_nothing(tmp_path):
    book = book_of(CANVAS)
    found = [gradebook.Total(record(name), Decimal(9), "") for name in ("ada", "S1")]
    filled = gradebook.fill(book, found, 5)
    assert filled.content == CANVAS.encode() and filled.marks == 0
    assert any("ada, S1" in note for note in filled.notes)


def test_an_answer_without_a_mark_leaves_the_cell_blank(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_bytes(CANVAS.encode())
    write_results(out, record("ada"), record("alan"), record("emmy", answers={}))
    mark_by_hand(out, ada="0")
    path, filled = gradebook.write(out, export)
    assert cells(path.read_bytes(), "Exercises 1 (901)")[3:] == [str(MOST), "3.00", "EX", "", ""]
    assert sum("no mark in written.csv for q5" in note for note in filled.notes) == 2
    (out / "written.csv").unlink()
    path, filled = gradebook.write(out, export)
    assert path.read_bytes() == CANVAS.encode() and filled.marks == 0
    path, filled = gradebook.write(out, export, only_auto=True)
    assert filled.marks == 3 and any("nothing is scaled" in note for note in filled.notes)


@pytest.mark.parametrize("mark, says", [("5", "not between 0 and 4"), ("good", "not a number"), ("-1", "between")])  # fmt: skip
def test_a_mark_that_is_none_is_refused(tmp_path, mark, says):
    write_results(tmp_path / "marks", record("ada"))
    mark_by_hand(tmp_path / "marks", ada=mark)
    with pytest.raises(ValueError, match=says):
        gradebook.totals(tmp_path / "marks")


def test_marks_twice_or_for_nobody_are_refused(tmp_path):
    out = tmp_path / "marks"
    write_results(out, record("ada"))
    (out / "written.csv").write_text("student,question,mark,answer\nada,q5,1,x\nada,q5,2,x\n")
    with pytest.raises(ValueError, match="two marks for q5"):
        gradebook.totals(out)
    (out / "written.csv").write_text("answer,student,question,mark\nx,bob,q5,1\n")
    with pytest.raises(ValueError, match="handed nothing in: bob"):
        gradebook.totals(out)


def test_grading_again_keeps_the_marks_by_hand(tmp_path):
    out = tmp_path / "marks"
    assert write_results(out, record("ada"), record("alan")) == []
    mark_by_hand(out, ada="3", alan="2")
    assert write_results(out, record("ada"), record("alan"), record("emmy")) == []
    assert [total.points for total in gradebook.totals(out)] == [MOST + 3, MOST + 2, None]
    assert cells((out / "gradebook.csv").read_bytes(), "q5_by_hand")[1:] == ["3", "2", ""]
    marked = (out / "written.csv").read_bytes()
    [note] = write_results(out, record("ada"), record("alan", answers={"q5": "No: because."}))
    assert "written-old.csv" in note and (out / "written-old.csv").read_bytes() == marked
    assert [total.points for total in gradebook.totals(out)] == [MOST + 3, None]


def test_written_csv_is_read_as_excel_saves_it(tmp_path):
    path = tmp_path / "written.csv"
    rows = "student;question;mark;answer;second marker\r\nJosé;q5;3,5;=x;\r\nAda;q5;;y;fine\r\n"
    path.write_bytes(rows.encode("cp1252"))
    found = written.read(path)
    assert written.points(found, {"q5": 4}) == {("José", "q5"): Decimal("3.5")}
    assert [row.more for row in found] == [False, True]


def test_the_export_is_never_overwritten(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_bytes(CANVAS.encode())
    link = tmp_path / "link.csv"
    link.symlink_to(export)
    write_results(out, record("ada"))
    for target in (export, link):
        with pytest.raises(ValueError, match="is not overwritten"):
            gradebook.write(out, export, target, only_auto=True)
    assert export.read_bytes() == CANVAS.encode()
    path, _ = gradebook.write(out, export, tmp_path / "new.csv", only_auto=True)
    assert path == tmp_path / "new.csv"
    assert not list(tmp_path.glob(".*part"))


def test_no_column_is_invented(tmp_path):
    book = book_of(CANVAS)
    assert book.column("", ("Exercises 1: cues", "Exercises 1")) == 5
    assert book.column("exercises 2", ()) == book.column("Exercises 2 (902)", ()) == 6
    for wanted in ("Exercises 3", "Final Score", "ID", "Student"):
        with pytest.raises(ValueError, match=r"(?s)no column.*COLUMN=.*Exercises 1 \(901\)"):
            book.column(wanted, ())
    moodle = book_of(MOODLE)
    assert moodle.column("", ("Exercises 1",)) == 6
    with pytest.raises(ValueError, match="no column"):
        moodle.column("Assignment: Exercises 1 (Percentage)", ())
    twice = book_of(CANVAS.replace("Exercises 2", "Exercises 1"))
    with pytest.raises(ValueError, match="more than one column"):
        twice.column("", ("Exercises 1",))
    assert twice.column("Exercises 1 (902)", ()) == 6


@pytest.mark.parametrize("raw", [b"", b"a,b\n1,2\n", b'"Student,ID,Section\n', b"\x81\x8d", CANVAS.encode()[:-2]])  # fmt: skip
def test_what_is_no_export_is_refused(tmp_path, raw):
    (tmp_path / "export.csv").write_bytes(raw)
    with pytest.raises(ValueError, match=r"export.csv is not an export that we know"):
        roster.read(tmp_path / "export.csv")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='a",;\r\n\té ', max_size=30))
def test_tables_are_read_as_csv_reads_them(text):
    try:
        table = Table(text.encode(), lambda header: True)
    except ValueError:
        return  # a quote that is never closed, which csv lets pass
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [[cell.text for cell in row] for row in table.rows] == rows
    assert table.with_cells({}) == text.encode()
    same = {(i, j): text for i, row in enumerate(rows) for j, text in enumerate(row)}
    again = Table(table.with_cells(same), lambda header: True)
    assert [[cell.text for cell in row] for row in again.rows] == rows


def runs(text):
    """Whether some reader takes a piece of a cell for a formula, be it a number or a dash."""
    pieces = re.split("[;\t\r\n]", text)
    begun = any(re.match(r'["\s]*[=+@＝＋＠－|%-]', piece) for piece in pieces)
    return bool(text.strip()) and (begun or text[0] in "\t\r")


hostile = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12),
    st.text("ab\"',;\n\r\t =+-@|%é😀ſ＝＠", max_size=12),
    st.sampled_from(["=1+1", "+1", "@x", "-x", "\tx", "\rx", " =x", "-", "-5", "'=x", '"', "\n"]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(hostile, min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_no_reader_of_our_tables_finds_a_formula(tmp_path_factory, texts, delimiter):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    names = ["x" if safe.NUMBER.fullmatch(text) else text for text in texts]
    rows = [
        [safe.cell(name), "1", "", safe.whole(text)]
        for name, text in zip(names, texts, strict=True)
    ]
    reports.table(path, ["student", "a", "b", "c"], rows)
    raw = path.read_text(encoding="utf-8")
    assert raw.startswith('"student","a","b","c"\n') or "\r\n" in raw
    found = list(csv.reader(io.StringIO(raw, newline=""), delimiter=delimiter))
    for text in (text for row in found for text in row):
        assert not runs(text), raw
    assert delimiter != "," or found[1:] == rows  # what a person reads is what was written
    for text in texts:
        assert safe.as_text(safe.whole(text)) == safe.as_text(safe.every(text))
        assert safe.whole(safe.whole(text)) == safe.whole(text)


@pytest.mark.parametrize("mark", ["+2", "2,5", "-0", "'+2"])
@pytest.mark.parametrize("comment", ["- one\n- two;=3", "＝x", "@ada: no", "|a|"])
def test_what_a_marker_types_comes_back(tmp_path, mark, comment):
    """Also where it has been graded again, and where a spreadsheet takes its quotes away."""
    out, answers = tmp_path / "marks", {"q5": "a;=1+1\n- b"}
    for _ in range(3):
        assert write_results(out, record("ada", answers=answers)) == []
        path = out / "written.csv"
        path.write_bytes(path.read_bytes().replace(b";'=1", b";=1"))
        mark_by_hand(out, comment, ada=mark)
    write_results(out, record("ada", answers=answers))
    [row] = written.read(out / "written.csv")
    assert (row.mark, row.comment) == (mark.lstrip("'"), comment)
    assert "a;'=1+1" in (out / "written.csv").read_text(encoding="utf-8-sig")


encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_nothing_but_the_filled_column_changes(data):
    """Any names, any order of columns, any dialect: read back by csv, compared cell by cell."""
    columns = ["Student", "ID", "SIS Login ID", "Section", "Notes", "Exercises 1 (901)"]
    header = data.draw(st.permutations(columns))
    n = data.draw(st.integers(1, 4))
    people = [{name: data.draw(hostile) for name in columns} for _ in range(n)]
    for number, person in enumerate(people):
        person["ID"] = str(100 + number)
        person["Exercises 1 (901)"] = data.draw(st.sampled_from(["", "3.00", "EX"]))
    handed_in = data.draw(st.lists(st.sampled_from(range(n)), unique=True))
    dialect = {
        "delimiter": data.draw(st.sampled_from(",;\t")),
        "lineterminator": data.draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    }
    if any("\r" in text for person in people for text in person.values()):
        dialect["quoting"] = csv.QUOTE_ALL  # else csv leaves a lone CR bare: a broken file
    before = [header, *([person[name] for name in header] for person in people)]
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows(before)
    encoding = data.draw(encodings)
    raw = text.getvalue().encode(encoding)

    table = Table(raw, lambda names: roster.shape_of(names) is not None)
    book = roster.Roster(table)
    place = book.column("", ("Exercises 1",))
    totals = [
        gradebook.Total(record("x", id=str(100 + i), source="canvas"), Decimal(40 + i), "")
        for i in handed_in
    ]
    filled = gradebook.fill(book, totals, place)

    after = filled.content.decode(encoding)
    rows = list(csv.reader(io.StringIO(after, newline=""), delimiter=dialect["delimiter"]))
    assert len(rows) == len(before) and rows[0] == header
    for number, (old, new) in enumerate(zip(before[1:], rows[1:], strict=True)):
        assert len(new) == len(header)
        for column, (was, now) in enumerate(zip(old, new, strict=True)):
            if column == place and number in handed_in and was != "EX":
                assert now == str(40 + number)
            else:
                assert now.replace("'", "") == was.replace("'", "")
                assert not runs(now) or re.fullmatch(r"\s*[+-]([0-9,.]+)?\s*", now)
                assert now == was or runs(was) or re.search("[\t\r]", was)
    undo = {
        (number + 1, column): old[column]
        for number, old in enumerate(before[1:])
        for column in range(len(header))
        if rows[number + 1][column] != old[column]
    }
    assert Table(filled.content, roster.shape_of).with_cells(undo) == raw  # every byte


def test_gradescope_gets_a_file_a_hand_in(tmp_path):
    out, to = tmp_path / "marks", tmp_path / "gradescope"
    write_results(out, record("ada", 20), record("alan", status=UNREADABLE), record("emmy"))
    mark_by_hand(out, ada="2.5")
    files, notes = gradescope.write(out, to)
    assert [path.relative_to(to).as_posix() for path in files] == ["ada/results.json"]
    assert [note.split(" (")[0] for note in notes] == ["no file: alan", "no file: emmy"]
    got = json.loads(files[0].read_text())
    assert got["score"] == 22.5 == sum(test["score"] for test in got["tests"])
    assert {test["max_score"] for test in got["tests"]} == {20, 4}
    assert got["stdout_visibility"] == "hidden" and got["tests"][0]["status"] == "passed"
    with pytest.raises(ValueError, match="is not overwritten"):
        gradescope.write(out, to)
    assert len(gradescope.write(out, tmp_path / "auto", only_auto=True)[0]) == 2


def test_the_command_says_what_it_did(tmp_path, capsys):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    export.write_bytes(CANVAS.encode())
    write_results(out, record("ada"))
    words = ["gradebook", str(out), "--roster", str(export), "--only-auto"]
    assert __main__.main(words) == 0
    said = capsys.readouterr().out
    assert "export-filled.csv: 1 marks in the column 'Exercises 1 (901)'" in said
    assert "no hand-in: Turing, Alan M." in said
    assert __main__.main(["gradebook", str(out)]) == 2
    assert __main__.main(["gradebook", str(tmp_path), "--roster", str(export)]) == 2
    assert "folder that make grade wrote" in capsys.readouterr().err


def test_moodles_worksheet_says_who_is_late(tmp_path):
    out, export = tmp_path / "marks", tmp_path / "export.csv"
    status = "Submitted for grading - 2 days 3 hours late"
    export.write_text(WORKSHEET.replace("ada@example.org,Submitted", f"ada@example.org,{status}"))
    write_results(out, *(record("x", id=id, source="moodle") for id in ("123", "78")))
    _, filled = gradebook.write(out, export, only_auto=True)
    assert [note for note in filled.notes if note.startswith("late")] == [
        "late: Ada Lovelace (2 days 3 hours late)"
    ]
