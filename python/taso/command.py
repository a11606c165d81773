"""The command `taso-opt` of the wheel: it becomes the program that was built, which times models in this Python's runtime."""
import os
import pathlib
import sys


def taso_opt():
    """Does not come back."""
    program = pathlib.Path(__file__).resolve().parent / "taso-opt"
    if not program.is_file():
        sys.exit(f"taso-opt: {program} is not there: this package was installed without its programs")
    os.environ.setdefault("TASO_PYTHON", sys.executable)
    os.execv(program, [str(program), *sys.argv[1:]])
