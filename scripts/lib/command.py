"""How every Python script here ends: `run_script(main)` exits with what main gives. A file that cannot be used, or a
program that failed, is one line on stderr and exit code 3; Ctrl-C is 130; a closed pipe ends quietly."""
import os
import pathlib
import subprocess
import sys


def reason_of(failure):
    if isinstance(failure, OSError) and failure.strerror:
        return f"{failure.filename}: {failure.strerror}" if failure.filename else failure.strerror
    if isinstance(failure, subprocess.CalledProcessError):
        said = failure.stderr or ""
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        last = "".join(f": {line}" for line in said.strip().splitlines()[-1:])
        return f"{pathlib.Path(failure.cmd[0]).name} ended with {failure.returncode}{last}"
    return " ".join(str(failure).split())[:500] or type(failure).__name__


def run_script(main):
    name = pathlib.Path(sys.argv[0]).name
    if name == "__main__.py":
        name = pathlib.Path(sys.argv[0]).parent.name
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except (OSError, ValueError, RuntimeError, subprocess.SubprocessError) as failure:
        print(f"{name}: {reason_of(failure)}", file=sys.stderr)
        sys.exit(3)
