"""Run every test: those that need a browser beside all others, for two cores.

    python code/tools/run_tests.py [ARGUMENTS OF PYTEST]

With arguments it is pytest alone. Without, the browser's tests run in a second process; what they
print comes after the rest. The exit status is 0 if both are.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BROWSER = "code/tests/browser"
PYTEST = [sys.executable, "-m", "pytest", "--nbval"]


def side_by_side(first: list[str], second: list[str]) -> int:
    """Run two commands at once: the first prints as it goes, the second when both have ended."""
    with tempfile.TemporaryFile() as printed:
        behind = subprocess.Popen(second, cwd=ROOT, stdout=printed, stderr=subprocess.STDOUT)
        try:
            status = subprocess.run(first, cwd=ROOT).returncode
            status = behind.wait() or status
        finally:  # an interrupt ends both
            behind.kill()
            behind.wait()
            printed.seek(0)
            sys.stdout.flush()
            sys.stdout.buffer.write(printed.read())
            sys.stdout.flush()
    return status


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.run([*PYTEST, *arguments], cwd=ROOT).returncode
    return side_by_side([*PYTEST, f"--ignore={BROWSER}"], [*PYTEST, BROWSER])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
