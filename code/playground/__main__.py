"""`python -m playground` in the folder `code`."""

from .models import main

main()
