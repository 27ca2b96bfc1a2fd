#!/bin/sh
# Print the path of a Python 3.11 to 3.13 that can make a virtual environment.
# With an argument: only that one is tried. Every place on PATH is tried, since the first
# python3 may be too old or a stub, and a later one may do.
names=${1:-"python3.11 python3.12 python3.13 python3 python"}
reasons=""
try() {
    # "ok", or a line that says what it lacks; a stub that cannot run says nothing
    verdict=$("$1" -c '
import sys
v = "Python %d.%d" % sys.version_info[:2]
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print(v + ": this book needs 3.11 to 3.13")
else:
    try:
        import ensurepip, venv
        print("ok")
    except ImportError:
        print(v + ": it has no venv module (Debian, Ubuntu: apt install python3-venv)")
' 2>/dev/null)
    case $verdict in
        ok) printf '%s\n' "$1"; exit 0 ;;
        "") reasons="$reasons
  $1: it does not run" ;;
        *) reasons="$reasons
  $1: $verdict" ;;
    esac
}
for name in $names; do
    case $name in
        */*) try "$name" ;;
        *)
            if [ $# -gt 0 ] && ! command -v "$name" >/dev/null 2>&1; then
                reasons="$reasons
  $name: it is not on PATH"
            fi
            old_ifs=$IFS; IFS=:
            for folder in $PATH; do
                IFS=$old_ifs
                if [ -x "$folder/$name" ] && [ ! -d "$folder/$name" ]; then try "$folder/$name"; fi
            done
            IFS=$old_ifs ;;
    esac
done
{
    echo "No suitable Python: this book needs Python 3.11, 3.12 or 3.13 with its venv module."
    [ -n "$reasons" ] && echo "Tried:$reasons"
    echo "Get one from https://www.python.org/downloads/, from your system (Debian, Ubuntu:"
    echo "apt install python3 python3-venv; macOS: brew install python@3.12), or name one:"
    echo "make book PYTHON=/path/to/python3.12"
} >&2
exit 1
