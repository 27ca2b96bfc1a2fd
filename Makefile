# `make help` lists the targets. PYTHON=... chooses the interpreter, VENV=... the environment's folder.
.DEFAULT_GOAL := help
.PHONY: help install book lab serve slides pdf test notebooks chapter widget corpus train check release variant grade similar autograder split merge gradebook statistics bench mutants doubt size lint format clean

VENV ?= .venv
PYTHON ?=
PORT ?= 8000
NB ?=
EXP ?=
EX ?=
YEAR ?=
SUBMISSIONS ?=
OUT ?=
SALT ?=
RESULTS ?=
ROSTER ?=
COLUMN ?=
MARKERS ?=
BY ?=
COMMON ?=
GROUPS ?=
GRADESCOPE ?=
AUTO ?=
JOBS ?=
SCHEDULER ?=
ARGS ?=
NAMES ?=
PY = $(VENV)/bin/python
SITE = _build/html
GRADER = $(ONE_THREAD) $(PY) -m coursegrade
ONE_THREAD = OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

install:  ## make .venv and install the exact set (the targets below do it themselves)
	@python="$$(sh code/devkit/find_python.sh $(PYTHON))" && "$$python" code/devkit/install.py "$(VENV)"

book: install  ## build the site to _build/html
	@$(PY) -m devkit.build

lab: book  ## open the chapters in JupyterLab, each in a copy of your own (NB=03_scoring)
	@$(PY) -m devkit.lab $(NB)

serve:  ## serve the built site on http://localhost:8000 (PORT=...)
	@test -f $(SITE)/index.html || { echo "No site in $(SITE) yet: run 'make book' first." >&2; exit 1; }
	@$(PY) -m http.server --bind 127.0.0.1 --directory $(SITE) $(PORT)

slides: book  ## slides of each chapter, offline, to _build/slides (NB=03_scoring)
	@$(PY) -m devkit.slides $(NB)

pdf: book  ## the whole book as _build/book.pdf, by Chromium; no TeX
	@$(PY) -m devkit.printed

test: install  ## run every test: package, notebooks (nbval), built site in a browser (ARGS=...)
	@$(ONE_THREAD) $(PY) -m devkit.run_tests $(ARGS)

notebooks: install  ## run the notebooks in place, then check them (NB=... ARGS=--pictures)
	@$(PY) -m devkit.notebooks $(ARGS) $(NB)

chapter: install  ## begin a chapter, from files that pass every test (N=13 NAME=tasks)
	@test -n "$(N)" && test -n "$(NAME)" || { echo "make chapter N=13 NAME=tasks" >&2; exit 2; }
	@$(ONE_THREAD) $(PY) -m devkit.scaffold chapter "$(N)" "$(NAME)"

widget: install  ## begin a widget, shown by a chapter and the gallery (NAME=Hops CHAPTER=15)
	@test -n "$(NAME)" && test -n "$(CHAPTER)" || \
	{ echo "make widget NAME=Hops CHAPTER=15" >&2; exit 2; }
	@$(ONE_THREAD) $(PY) -m devkit.scaffold widget "$(NAME)" "$(CHAPTER)"

corpus: install  ## write the grammar corpus that the package holds, from code/grammar
	@$(PY) -m grammar

train: install  ## run the experiments over many seeds and store tables and weights (EXP=name)
	@$(ONE_THREAD) $(PY) -m devkit.train $(ARGS) $(EXP)

check: install  ## check the committed notebooks without running them (NB=...)
	@$(PY) -m devkit.notebooks --check $(NB)

release: install  ## write students' notebook and solution (EX=exercises/01_cues OUT=...)
	@test -n "$(EX)" || { echo "Which exercise? make release EX=exercises/01_cues" >&2; exit 2; }
	@$(GRADER) release "$(EX)" "$(or $(OUT),_build/release)"

variant: install  ## an exercise with other names, numbers, parameters (EX=... YEAR=2027 OUT=folder)
	@test -n "$(EX)" && test -n "$(YEAR)" && test -n "$(OUT)" || \
	{ echo "make variant EX=exercises/01_cues YEAR=2027 OUT=course" >&2; exit 2; }
	@$(GRADER) variant "$(EX)" "$(YEAR)" "$(OUT)"

grade: install  ## grade a folder of hand-ins (EX=... SUBMISSIONS=... OUT=... JOBS= SALT=)
	@test -n "$(EX)" && test -n "$(SUBMISSIONS)" && test -n "$(OUT)" || \
	{ echo "make grade EX=exercises/01_cues SUBMISSIONS=folder OUT=folder" >&2; exit 2; }
	@$(GRADER) grade "$(EX)" "$(SUBMISSIONS)" "$(OUT)" $(if $(JOBS),-j $(JOBS)) \
	$(if $(SALT),--salt "$(SALT)") $(if $(SCHEDULER),--scheduler "$(SCHEDULER)") $(ARGS)

similar: install  ## which hand-ins are alike, for a person to read (EX=... SUBMISSIONS=... OUT=)
	@test -n "$(EX)" && test -n "$(SUBMISSIONS)" && test -n "$(OUT)" || \
	{ echo "make similar EX=exercises/01_cues SUBMISSIONS=folder OUT=similar.html" >&2; exit 2; }
	@$(GRADER) similar "$(EX)" "$(SUBMISSIONS)" "$(OUT)" $(ARGS)

autograder: install  ## the zip that Gradescope runs for each hand-in (EX=... OUT=autograder.zip SALT=)
	@test -n "$(EX)" && test -n "$(OUT)" || \
	{ echo "make autograder EX=exercises/01_cues OUT=autograder.zip" >&2; exit 2; }
	@$(GRADER) autograder "$(EX)" "$(OUT)" $(if $(SALT),--salt "$(SALT)") $(ARGS)

split: install  ## a table for each marker (RESULTS=... MARKERS=ann,ben BY=question COMMON=10)
	@test -n "$(RESULTS)" && test -n "$(MARKERS)" || \
	{ echo "make split RESULTS=folder MARKERS=ann,ben BY=question COMMON=10" >&2; exit 2; }
	@$(GRADER) split "$(RESULTS)" --markers "$(MARKERS)" $(if $(BY),--by "$(BY)") \
	$(if $(COMMON),--common "$(COMMON)") $(ARGS)

merge: install  ## put the markers' tables back into written.csv (RESULTS=...)
	@test -n "$(RESULTS)" || { echo "make merge RESULTS=folder" >&2; exit 2; }
	@$(GRADER) merge "$(RESULTS)" $(ARGS)

gradebook: install  ## fill a Canvas or Moodle table (RESULTS= ROSTER= OUT= COLUMN= GROUPS= GRADESCOPE=)
	@test -n "$(RESULTS)" && test -n "$(ROSTER)$(GRADESCOPE)" || \
	{ echo "make gradebook RESULTS=folder ROSTER=export.csv LATE=late.toml (or GRADESCOPE=folder)" >&2; exit 2; }
	@$(GRADER) gradebook "$(RESULTS)" $(if $(ROSTER),--roster "$(ROSTER)") \
	$(if $(OUT),--out "$(OUT)") $(if $(COLUMN),--column "$(COLUMN)") \
	$(if $(GRADESCOPE),--gradescope "$(GRADESCOPE)") $(if $(AUTO),--only-auto) \
	$(if $(LATE),--late "$(LATE)") $(if $(GROUPS),--groups "$(GROUPS)") $(ARGS)

statistics: install  ## write a page on the class: who failed which test, and why (EX=... RESULTS=...)
	@test -n "$(EX)" && test -n "$(RESULTS)" || \
	{ echo "make statistics EX=exercises/01_cues RESULTS=folder" >&2; exit 2; }
	@$(GRADER) statistics "$(EX)" "$(RESULTS)" $(ARGS)

bench: install  ## measure against torch and d2l, show it in the appendix; time the widgets
	@$(ONE_THREAD) $(PY) -m devkit.bench; missed=$$?; \
	$(PY) -m devkit.notebooks book/benchmarks.ipynb && \
	$(PY) -m devkit.build && $(ONE_THREAD) $(PY) -m devkit.bench.speed && exit $$missed

mutants: install  ## break the core on purpose, edit by edit: the tests must notice (NAMES=masks.py)
	@$(ONE_THREAD) $(PY) -m devkit.mutants $(ARGS) $(NAMES)

doubt: install  ## break the chapters on purpose: an assertion must notice (NAMES=01_cues)
	@$(ONE_THREAD) $(PY) -m devkit.doubt $(NAMES)

size: install  ## lines of product and of tests, by area
	@$(PY) -m devkit.size

lint: install  ## ruff: lint and format, nothing changed
	@$(PY) -m ruff check . && $(PY) -m ruff format --check .

format: install  ## ruff: mend what it can
	@$(PY) -m ruff format . && $(PY) -m ruff check --fix . && $(PY) -m ruff format .

clean:  ## remove the built site and the caches; keep .venv and your _build/lab
	rm -rf .pytest_cache .ruff_cache .hypothesis
	@test ! -d _build || find _build -mindepth 1 -maxdepth 1 ! -name lab -exec rm -rf {} +
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
