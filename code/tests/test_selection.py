"""The selection table: counts by hand, laws, refusals."""

import pytest
import torch
from attnbook_testing.refusals import refuses
from hypothesis import given, settings
from hypothesis import strategies as st

from attnbook.metrics import selection

ONES = torch.ones(2, 3, dtype=torch.bool)


def test_a_row_by_hand():
    kept = [torch.tensor([[True, True, False], [False, False, True]]), ONES]
    row = selection(kept, [{(0, 0), (1, 0)}, {(1, 2)}])
    assert row.recall.value == 2 / 3  # two of three links
    assert row.precision.value == 2 / 9  # of 3 + 6 pairs kept
    assert row.scored == 9 and row.share == 9 / 12
    assert row.recall.low <= row.recall.value <= row.recall.high
    dense = selection(kept, [{(0, 0), (1, 0)}, {(1, 2)}], scored=[ONES, ONES])
    assert dense.scored == 12 and dense.share == 1 and dense.recall == row.recall


@settings(max_examples=30)
@given(st.integers(0, 9999))
def test_keeping_more_never_lowers_recall_and_all_has_all(seed):
    random = torch.Generator().manual_seed(seed)
    kept = [torch.rand(4, 5, generator=random) < 0.4 for _ in range(3)]
    kept[0][0, 0] = True
    more = [m | (torch.rand(4, 5, generator=random) < 0.4) for m in kept]
    gold = [{(0, 0), (1, int(torch.randint(5, (), generator=random)))} for _ in kept]
    few, many = (selection(masks, gold, samples=10) for masks in (kept, more))
    whole = selection([torch.ones(4, 5, dtype=torch.bool)] * 3, gold, samples=10)
    assert few.recall.value <= many.recall.value <= whole.recall.value == 1
    assert whole.precision.value == pytest.approx(sum(map(len, gold)) / 60) and whole.share == 1
    assert few.scored <= many.scored


def test_what_does_not_fit_is_refused():
    refuses(ValueError, "equally many examples, got 1, 2 and 1", selection, [ONES], [set(), set()])
    refuses(TypeError, "boolean masks, got torch.float32", selection, [ONES.float()], [{(0, 0)}])
    refuses(ValueError, r"within 2 by 3, got \(2, 0\)", selection, [ONES], [{(2, 0)}])
    refuses(ValueError, "gold must hold something", selection, [ONES], [set()])
    refuses(ValueError, "kept must hold something", selection, [~ONES], [{(0, 0)}])
    refuses(
        ValueError, r"scored must hold masks \(q, k\)", selection, [ONES], [{(0, 0)}],
        scored=[ONES[:1]],
    )  # fmt: skip
