"""`python -m devkit.playground`."""

from .models import main

main()
