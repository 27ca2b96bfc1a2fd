"""Release, grade and return notebook exercises: the code in a box, the tests outside it.

Rooms, in the order in which they may import: `limits`, `wire`, `seccomp`, `bubblewrap`, `docker`,
`backends`, `box`, `notebook`, `student`, `testing`, `runner`, `answers`, `watched`, `exercise`,
`release`, `handins`, `unpack`, `forked`, `grade_one`, `safe`, `markup`, `feedback`, `tables`,
`written`, `overrides`, `edits`, `reports`, `cluster`, `batch`, `totals`, `markers`, `late`,
`returns`, `roster`, `gradebook`, `gradescope`, `mutants`, `class_page`. `driver` runs inside the
box and knows only `wire`.
"""
