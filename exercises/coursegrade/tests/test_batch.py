"""A class: whose hand-in is it, what is graded again, what happens when we are at fault."""

import joblib
import pytest
from grading_helpers import ALL, Book, task_of

from coursegrade import (
    __main__,
    answers,
    batch,
    cluster,
    docker,
    grade_one,
    handins,
    notebook,
    release,
    reports,
    safe,
    variant,
    watched,
    worker,
)
from coursegrade.backends import backend
from coursegrade.exercise import Exercise
from coursegrade.limits import Limits
from coursegrade.task import FAULT, GRADED, blank

EXERCISE = ALL[0]
POINTS = EXERCISE.points()


def touch(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(folder):
    return {
        hand.student: (hand.name, hand.id, hand.late, len(hand.files))
        for hand in handins.find(folder)[0]
    }


def test_moodle_folders_and_files(tmp_path):
    touch(tmp_path, "Ada Lovelace_123_assignsubmission_file_/a.ipynb", "x.pdf", ".DS_Store")
    touch(tmp_path, "Alan M. Turing_77_assignsubmission_file_my_work.ipynb")
    assert found(tmp_path) == {
        "Ada Lovelace_123": ("Ada Lovelace", "123", False, 1),
        "Alan M. Turing_77": ("Alan M. Turing", "77", False, 1),
    }


def test_canvas_files(tmp_path):
    touch(tmp_path, "lovelaceada_55_901_01_cues.ipynb", "turingalan_LATE_56_902_01_cues-2.ipynb")
    touch(tmp_path, "lovelaceada_58_903_01_cues.ipynb")  # the same name, another person
    assert found(tmp_path) == {
        "lovelaceada_55": ("lovelaceada", "55", False, 1),
        "lovelaceada_58": ("lovelaceada", "58", False, 1),
        "turingalan_56": ("turingalan", "56", True, 1),
    }


def test_a_folder_a_student(tmp_path):
    touch(tmp_path, "ada/deep/a.ipynb", "ada/.ipynb_checkpoints/a.ipynb", "alan/notes.txt")
    assert found(tmp_path) == {"ada": ("ada", "", False, 1), "alan": ("alan", "", False, 0)}
    with pytest.raises(ValueError, match="must be a folder"):
        handins.find(tmp_path / "nowhere")


def fake(monkeypatch, status=GRADED):
    """A marker without a box that counts whom it marks."""
    marked = []

    def mark(task):
        marked.append(task.student)
        record = blank(task)
        return record | {"status": status, "problem": "", "seconds": 0.0}

    monkeypatch.setattr(worker, "mark", mark)
    monkeypatch.setattr(backend(), "why_not", lambda: None)
    return marked


def grade(folder, out, **options):
    options = {"salt": "a", "jobs": 1, "quiet": True} | options
    return batch.grade(EXERCISE, folder, out, **options)


def test_nothing_twice_and_nothing_stale(tmp_path, monkeypatch):
    marked = fake(monkeypatch)
    folder, out = tmp_path / "in", tmp_path / "out"
    touch(folder, "ada/a.ipynb", "alan/a.ipynb")
    grade(folder, out)
    assert sorted(marked) == ["ada", "alan"]
    grade(folder, out)
    assert len(marked) == 2  # nothing twice
    (folder / "ada" / "a.ipynb").write_text("y")
    grade(folder, out)
    assert marked[2:] == ["ada"]
    grade(folder, out, salt="b")
    assert sorted(marked[3:]) == ["ada", "alan"]
    grade(folder, out, salt=None)
    assert len(marked) == 5  # the salt of the last run
    monkeypatch.setattr(batch, "grader_version", lambda: "another")
    grade(folder, out, salt=None)
    assert len(marked) == 7
    (folder / "alan" / "a.ipynb").unlink()
    (folder / "alan").rmdir()
    grade(folder, out, salt=None)
    assert len(marked) == 7
    names = {path.name for path in (out / "feedback").iterdir()}
    assert names == {"ada.md", "ada.html"}
    assert len(list((out / ".results").iterdir())) == 1


def test_other_tests_limits_and_lateness_mark_anew(tmp_path):
    touch(tmp_path, "ada/a.ipynb")
    [task] = batch.tasks(EXERCISE, handins.find(tmp_path)[0], "a", Limits())
    changed = task._replace(tests=task.tests._replace(hidden=task.tests.hidden + "\n# more\n"))
    assert batch.key(task, "v") != batch.key(changed, "v")
    assert batch.key(task, "v") != batch.key(task._replace(limits=Limits(call=9)), "v")
    assert batch.key(task, "v") != batch.key(task._replace(flags=("late",)), "v")


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    marked = fake(monkeypatch)
    touch(tmp_path / "in", "ada/a.ipynb", "alan/a.ipynb", "grace/a.ipynb")
    counting = worker.mark

    def until_alan(task):
        if task.student == "grace":
            raise KeyboardInterrupt
        return counting(task)

    monkeypatch.setattr(worker, "mark", until_alan)
    with pytest.raises(KeyboardInterrupt):
        grade(tmp_path / "in", tmp_path / "out")
    monkeypatch.setattr(worker, "mark", counting)
    grade(tmp_path / "in", tmp_path / "out")
    assert sorted(marked) == ["ada", "alan", "grace"]


def test_a_fault_is_retried_and_blank(tmp_path, monkeypatch):
    from coursegrade import student
    from coursegrade.box import GraderFault

    starts = []

    def broken(limits):
        starts.append(1)
        raise GraderFault("the box did not start")

    monkeypatch.setattr(student, "Box", broken)
    monkeypatch.setattr(worker, "in_worker", grade_one.examine)
    monkeypatch.setattr(backend(), "why_not", lambda: None)
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    (folder / "a.ipynb").write_text(Book(EXERCISE).text())
    [record] = grade(tmp_path / "in", tmp_path / "out")
    assert record["status"] == FAULT and len(starts) == 2
    assert reports.marks(record, POINTS) == dict.fromkeys((*POINTS, "auto"), "")
    text = (tmp_path / "out" / "feedback" / "ada.md").read_text()
    assert "you need do nothing" in text and "✗" not in text
    assert not list((tmp_path / "out" / ".results").iterdir())  # tried again next time


def test_a_fault_heals_at_the_second_try(box, tmp_path, monkeypatch):
    from coursegrade import student
    from coursegrade.box import Box, GraderFault

    starts = []

    def once_broken(limits):
        starts.append(1)
        if len(starts) == 1:
            raise GraderFault("the box did not start")
        return Box(limits)

    monkeypatch.setattr(student, "Box", once_broken)
    monkeypatch.setattr(worker, "in_worker", grade_one.examine)
    patient = Limits(start=600, cell=600, call=300, run=3000, cpu=600)  # a busy machine is no fault
    task = task_of(EXERCISE, Book(EXERCISE).text(), limits=patient)
    assert reports.marks(worker.mark(task), POINTS)["auto"] == sum(POINTS.values())


def test_no_box_no_grading(tmp_path, monkeypatch, capsys):
    touch(tmp_path / "in", "ada/a.ipynb")
    monkeypatch.setattr(backend(), "why_not", lambda: "it is not there")
    with pytest.raises(cluster.NoBox):
        grade(tmp_path / "in", tmp_path / "out")
    words = ["grade", str(EXERCISE.folder), str(tmp_path / "in"), str(tmp_path / "out")]
    assert __main__.main(words) == 2 and "it is not there" in capsys.readouterr().err
    assert not (tmp_path / "out" / "gradebook.csv").exists()


def test_forbidden_names_are_flagged_with_the_line():
    book = Book(ALL[2])
    book.put(
        "attention",
        "from torch.nn import functional as F\n"
        "def attention(q, k, v, lengths):\n"
        "    return F.scaled_dot_product_attention(q, k, v), None\n",
    )
    cells, given = notebook.parse(book.text().encode()), release.given_parts(ALL[2])
    [flag] = watched.forbidden_calls(cells, ALL[2].forbidden(), given)
    assert flag.startswith("q3: cell ") and "line 3 names scaled_dot_product_attention" in flag
    sly = "f = getattr(torch.nn.functional, 'scaled_dot_product_attention')"
    assert watched.forbidden_calls([("code", sly)], ALL[2].forbidden())
    slyer = "f = getattr(torch.nn.functional, 'scaled_dot_' + 'product_attention')"
    assert watched.forbidden_calls([("code", slyer)], ALL[2].forbidden())
    plain = notebook.parse(Book(ALL[2]).text().encode())
    assert watched.forbidden_calls(plain, ALL[2].forbidden(), given) == []


@pytest.mark.parametrize(
    "code, flagged",
    [
        ("import gc", True),
        ("import sys\nsys.modules['wire'].encode = None", True),
        ("f.__globals__['encode'] = None", True),
        ("vars(torch.nn.functional)['x']", True),
        ("eval('1')", True),
        ("from sys import modules", True),
        ("model.eval()\nfor m in model.modules(): getattr(m, 'weight', None)", False),
    ],
)
def test_reaching_around_is_flagged(code, flagged):
    assert bool(watched.forbidden_calls([("code", code)], {})) == flagged


def test_written_answers_are_collected():
    cells = [("markdown", "**Answer Q5:**\n\n*write here*"), ("markdown", "**Answer Q6:** =1+1")]
    assert answers.answers(cells, by_hand=("q5", "q6")) == {"q5": "", "q6": "=1+1"}
    assert answers.answers(cells, by_hand=("q6",)) == {"q6": "=1+1"}  # no label makes a question
    assert safe.cell("=1+1") == "'=1+1" and safe.cell("-2.5") == "-2.5"
    assert safe.cell(" @x") == "' @x" and safe.cell("a\n=b") == "a =b"


OURS = cluster.Fitness("files", "2.13", None)


@pytest.mark.parametrize(
    "theirs, error, says",
    [
        (OURS._replace(files="others"), cluster.Unfit, "b: another version of the grader"),
        (OURS._replace(torch="2.5"), cluster.Unfit, "b: another torch"),
        (OURS._replace(why_not="bwrap is not installed"), cluster.NoBox, "b: bwrap is not"),
    ],
)
def test_a_worker_that_would_mark_differently_is_refused(theirs, error, says):
    with pytest.raises(error, match=says):
        cluster.check({"a": OURS, "b": theirs}, OURS)
    cluster.check({"a": OURS, "b": OURS}, OURS)


@pytest.mark.parametrize("broken", ["dask kills it", "dask cancels it", "the connection"])
def test_a_lost_worker_costs_nobody_else_a_mark(tmp_path, monkeypatch, broken):
    """The whole run breaks off after one hand-in; one of those left ends its worker again."""
    distributed = pytest.importorskip("distributed")
    problem = {
        "dask kills it": distributed.KilledWorker("task", None, 3),
        "dask cancels it": distributed.client.FutureCancelledError("key", "lost"),
        "the connection": OSError("closed"),
    }[broken]
    fake(monkeypatch)
    folder = tmp_path / "in"
    touch(folder, "ada/a.ipynb", "alan/a.ipynb", "grace/a.ipynb")

    def breaking(some, jobs, ours):
        for i, task in list(some.items()):
            if task.student == "alan":
                raise problem
            yield i, worker.mark(task)

    monkeypatch.setattr(batch, "_in_parallel", breaking)
    records = {record["student"]: record for record in grade(folder, tmp_path / "out")}
    statuses = [records[who]["status"] for who in ("ada", "alan", "grace")]
    assert statuses == [GRADED, FAULT, GRADED]
    assert reports.marks(records["alan"], POINTS)["auto"] == ""


def test_an_empty_cluster_is_refused(tmp_path, monkeypatch, capsys):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "WAIT", 1)
    touch(tmp_path / "in", "ada/a.ipynb")
    options = {"n_workers": 0, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(protocol="tcp", **options) as empty:
        words = ["grade", str(EXERCISE.folder), str(tmp_path / "in"), str(tmp_path / "out")]
        words += ["--quiet", "--scheduler", empty.scheduler_address]
        assert __main__.main(words) == 2
    assert "no worker" in capsys.readouterr().err
    assert not (tmp_path / "out" / "gradebook.csv").exists()


def test_dockers_command_line():
    words = docker.command(Limits())
    line = " ".join(words)
    for wanted in (
        *("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--rm"),
        *("--user 65534:65534", "--pids-limit 64", f"--memory {4 << 30}", "--interactive"),
        *("--pull never", "--log-driver none", "dst=/grader/driver.py,readonly"),
    ):
        assert wanted in line, wanted
    assert words[-4:] == [docker.IMAGE, "python", "-I", "/grader/driver.py"]
    assert docker.command(Limits()) != words  # each box has its own name


def test_docker_runs(monkeypatch):
    if why := docker.why_not():
        pytest.skip(why)
    monkeypatch.setenv("COURSEGRADE_BOX", "docker")
    task = task_of(EXERCISE, Book(EXERCISE).text())
    assert reports.marks(worker.mark(task), POINTS)["auto"] == sum(POINTS.values())


def test_an_unknown_box_is_refused(monkeypatch):
    monkeypatch.setenv("COURSEGRADE_BOX", "none")
    with pytest.raises(ValueError, match=r"must be one of bubblewrap, docker, container"):
        backend()


def test_layer_norm_is_flagged_where_it_is_the_students_own():
    given, cells = release.given_parts(ALL[6]), notebook.parse(Book(ALL[6]).text().encode())
    assert watched.forbidden_calls(cells, ALL[6].forbidden(), given) == []
    cells.append(("code", "def normalise(x, gain, bias): return nn.LayerNorm(8)(x)"))
    [flag] = watched.forbidden_calls(cells, ALL[6].forbidden(), given)
    assert flag.endswith("line 1 names LayerNorm")


def test_a_killed_first_run_keeps_its_salt_and_a_folder_its_exercise(tmp_path, monkeypatch):
    fake(monkeypatch)
    touch(tmp_path / "in", "ada/a.ipynb")
    salts = []

    def killed(task):
        salts.append(task.salt)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "mark", killed)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            grade(tmp_path / "in", tmp_path / "out", salt=None)
    assert salts[0] == salts[1]
    with pytest.raises(ValueError, match="results of 01_cues"):
        batch.grade(ALL[1], tmp_path / "in", tmp_path / "out", quiet=True)
    other = Exercise(variant.write(EXERCISE, "2027", tmp_path))
    with pytest.raises(ValueError, match="of the first form of 01_cues: give the variant 2027 its"):
        batch.grade(other, tmp_path / "in", tmp_path / "out", quiet=True)


def test_a_worker_that_came_late_is_asked_before_each_hand_in(monkeypatch):
    from types import SimpleNamespace

    marked = []
    monkeypatch.setattr(worker, "mark", marked.append)
    monkeypatch.setattr(cluster, "fitness", lambda: OURS._replace(why_not="no bwrap"))
    task = SimpleNamespace()
    assert batch._numbered(3, task, OURS) == (3, None) and not marked
    batch._numbered(3, task, None)
    assert marked == [task]


@pytest.mark.filterwarnings("ignore")
def test_the_hand_ins_of_an_unfit_worker_go_to_a_fit_one(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "fitness", lambda: OURS)
    options = {"n_workers": 2, "processes": False, "dashboard_address": None, "protocol": "tcp"}
    with distributed.LocalCluster(threads_per_worker=1, **options) as two:
        fit, unfit = (worker.address for worker in two.workers.values())
        with cluster.workers(two.scheduler_address) as only_fit:
            found = {fit: OURS, unfit: OURS._replace(why_not="no bwrap")}
            monkeypatch.setattr(cluster, "_found", lambda client: found)
            with only_fit():
                where = joblib.delayed(lambda _: distributed.get_worker().address)
                assert set(joblib.Parallel(batch_size=1)(where(i) for i in range(6))) == {fit}
            monkeypatch.setattr(cluster, "_found", lambda client: {unfit: found[unfit]})
            with pytest.raises(cluster.NoBox):
                only_fit()
