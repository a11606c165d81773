#!/usr/bin/env python3
"""docs/manual/operators.md is what describe_operators prints: `page.py PROGRAM EXAMPLES PAGE [--write]`."""
import difflib
import pathlib
import subprocess
import sys


def main():
    program, examples, page = sys.argv[1:4]
    done = subprocess.run([program, examples], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    page = pathlib.Path(page)
    if "--write" in sys.argv:
        page.write_text(done.stdout, encoding="utf-8")
        return 0
    written = page.read_text(encoding="utf-8") if page.exists() else ""
    changes = list(difflib.unified_diff(written.splitlines(), done.stdout.splitlines(), str(page), "the table"))
    print("\n".join(changes) or f"{page} is up to date")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
