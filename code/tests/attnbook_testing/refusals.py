"""One line for one refusal: the error, words of its message, the call that is refused."""

import pytest


def refuses(error, said, function, *arguments, **options):
    """Check that function(*arguments, **options) raises `error` with a message like `said`."""
    with pytest.raises(error, match=said):
        function(*arguments, **options)
