"""Release, grade and return notebook exercises: the code in a box, the tests outside it.

A hand-in goes one way, and a file imports only from files further on (a test draws the graph)::

    handins → batch → worker → grade_one → runner → student → box
                    → reports → totals → late → returns → gradebook, gradescope

`driver` runs inside the box and imports only what is there with it.
"""
