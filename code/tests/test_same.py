"""A stored table takes today's hash only where today's code computes what made it."""

import importlib.util
from pathlib import Path

import pytest
import torch

SOURCE = Path(__file__).parents[1] / "tools" / "same.py"
SPEC = importlib.util.spec_from_file_location("same", SOURCE)
same = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(same)

RECORD = {"code": "old", "rows": [{"seed": 0}]}
THEN = {"code": "old", "none": {"steps": [1.0, 0.5], "weights": "abc"}, "dot": {"steps": [2.0]}}


def test_equal_traces_give_todays_hash_and_keep_the_rows():
    record = same.accepted(RECORD, "c0ffee", THEN, THEN | {"code": "new"})
    assert record["code"] == "new" and record["rows"] == RECORD["rows"]
    assert record["again"]["rows made by"] == "old" and record["again"]["commit"] == "c0ffee"
    assert RECORD["code"] == "old"


def test_a_second_time_the_first_maker_stays_named():
    once = same.accepted(RECORD, "c0ffee", THEN, THEN | {"code": "new"})
    twice = same.accepted(once, "decade", THEN | {"code": "new"}, THEN | {"code": "newer"})
    assert twice["code"] == "newer" and twice["again"]["rows made by"] == "old"


@pytest.mark.parametrize(
    "other",
    [
        {"none": {"steps": [1.0, 0.5000001], "weights": "abc"}},
        {"none": {"steps": [1.0, 0.5], "weights": "abd"}},
        {"more": {}},
    ],
)
def test_a_trace_that_differs_is_named_and_refused(other):
    now = THEN | {"code": "new"} | other
    with pytest.raises(ValueError, match=f"{next(iter(other))}.*train anew"):
        same.accepted(RECORD, "c0ffee", THEN, now)


def test_a_commit_that_did_not_make_the_table_is_refused():
    with pytest.raises(ValueError, match="made the table, and c0ffee is not"):
        same.accepted(RECORD | {"code": "another"}, "c0ffee", THEN, THEN)


def test_the_digest_sees_every_weight():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    before = same.digest(model)
    with torch.no_grad():
        model.bias[1] += 1e-7
    assert same.digest(model) != before
