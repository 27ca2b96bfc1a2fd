"""The lists of mutants fit the code that they break; `make mutants` itself is not run here."""

from devkit import ROOT, edits, mutants


def test_every_mutant_fits_once_and_names_tests_that_are_there():
    listed = mutants.load()
    assert len(listed) > 100
    for mutant in listed:
        text = (ROOT / "code" / "attnbook" / mutant["file"]).read_text(encoding="utf-8")
        assert edits.replace(text, mutant) != text
        for test in mutant["tests"]:
            assert (ROOT / "code" / "tests" / test).is_file(), test
