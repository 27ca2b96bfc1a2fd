"""Run every test, in parts of which three run at once: for two cores, as one often waits.

    python -m devkit.run_tests [ARGUMENTS OF PYTEST]

With arguments it is pytest alone. Without, what a part prints comes when it has ended, and a line a
minute says what is running. The exit status is 0 if that of all is.
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, wait

from devkit import ROOT

AT_ONCE = 3
BROWSER, JUPYTER = "code/tests/browser", "code/tests/browser/test_jupyter.py"
PARTS = (  # together the testpaths of pyproject.toml, the longest first
    ("code/tests", "code/grammar/tests", f"--ignore={BROWSER}"),
    (BROWSER, f"--ignore={JUPYTER}"),
    ("book",),
    ("exercises/coursegrade/tests",),  # alone: a folder of tests in `code` hides Python's `code`
    (JUPYTER,),
)
PYTEST = [sys.executable, "-m", "pytest", "--nbval"]


def at_once(commands: list[list[str]]) -> int:
    """Run commands, some at once; each prints when it has ended. The worst of their statuses."""
    running = []

    def run(command: list[str]) -> int:
        start = time.monotonic()
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        running.append(process)
        printed, _ = process.communicate()
        said = f"\n{' '.join(command[3:])}: {time.monotonic() - start:.0f} s\n".encode()
        sys.stdout.buffer.write(printed + said)  # at once: parts do not mix
        sys.stdout.buffer.flush()
        return abs(process.returncode)

    print(f"{len(commands)} parts, {AT_ONCE} at once; each prints when it has ended.", flush=True)
    begun = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(run, command) for command in commands]
        try:
            while wait(waiting, timeout=60).not_done:
                still = [" ".join(p.args[3:]) for p in running if p.poll() is None]
                print(f"{time.monotonic() - begun:.0f} s: {', '.join(still)}", flush=True)
            return max(future.result() for future in waiting)
        finally:  # an interrupt ends all
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.kill()


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.run([*PYTEST, *arguments], cwd=ROOT).returncode
    return at_once([[*PYTEST, *part] for part in PARTS])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
