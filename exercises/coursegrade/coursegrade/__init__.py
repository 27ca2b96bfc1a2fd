"""Release, grade and return notebook exercises: the code in a box, the tests outside it.

Rooms, in the order in which they may import: `limits`, `wire`, `seccomp`, `bubblewrap`, `docker`,
`box`, `student`, `marks`, `marking`, `notebook`, `exercise`, `release`, `handins`, `marker`,
`tables`, `handmarks`, `reports`, `cluster`, `batch`, `roster`, `gradebook`, `gradescope`. `driver`
runs inside the box and knows only `wire`.
"""
