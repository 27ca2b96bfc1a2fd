"""Reports: the spans are the answers, new words are new, a seed gives the same again."""

import pytest
from attnbook_testing.refusals import refuses

from attnbook.data.reports import NEW_PEOPLE, PEOPLE, QUESTIONS, VERBS, reports


def test_a_seed_gives_the_same_reports_and_another_one_others():
    assert reports(20, seed=3) == reports(20, seed=3) != reports(20, seed=4)
    assert reports(5, seed=3) == reports(20, seed=3)[:5]


@pytest.mark.parametrize("new", [False, True])
def test_the_spans_and_the_verb_make_up_the_sentence(new):
    for report in reports(200, seed=1, new=new):
        assert report.tokens[report.verb] in VERBS
        covered = [n for a, b in report.spans.values() for n in range(a, b + 1)]
        rest = [w for n, w in enumerate(report.tokens) if n not in covered]
        assert len(covered) == len(set(covered)) and set(report.spans) == set(QUESTIONS)
        assert rest == (["was", report.tokens[report.verb], "by"] if report.passive else rest[:1])


def test_who_comes_first_where_the_clause_is_active():
    for report in reports(200, seed=1):
        assert (report.spans["who"] > report.spans["whom"]) == report.passive
        before = report.tokens[report.spans["who"][0] - 1]
        assert not report.passive or before == "by"


def test_new_reports_share_no_person_with_known_ones():
    assert not set(PEOPLE) & set(NEW_PEOPLE)
    last = {r.tokens[r.spans[q][1]] for r in reports(300, new=True) for q in ("who", "whom")}
    assert last == set(NEW_PEOPLE)
    known = {r.tokens[r.spans[q][1]] for r in reports(2000) for q in ("who", "whom")}
    assert known == set(PEOPLE)


def test_what_it_refuses():
    refuses(ValueError, "n must be at least 0", reports, -1)
    assert reports(0) == []
