"""The lists of mutants fit the code that they break; `make mutants` itself is not run here."""

from devkit import mutants


def test_every_mutant_fits_once_and_names_tests_that_are_there():
    listed = mutants.load()
    assert len(listed) > 100
    for mutant in listed:
        text = (mutants.ROOT / "code" / "attnbook" / mutant["file"]).read_text(encoding="utf-8")
        assert mutants.replaced(text, mutant) != text
        for test in mutant["tests"]:
            assert (mutants.ROOT / "code" / "tests" / test).is_file(), test
