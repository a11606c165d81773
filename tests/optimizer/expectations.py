"""What does not hold is told at once, and counted: a test goes on."""
import pathlib
import sys
import tempfile

failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


def tests_of(names):
    """The tests of a file, of its globals(), in their order: none is forgotten."""
    return [value for name, value in names.items() if name.startswith("test_")]


def run_tests(tests, folder=None):
    """Each with a folder of its own, or with this one. Ends the program."""
    for test in tests:
        with tempfile.TemporaryDirectory() as name:
            test(folder or pathlib.Path(name))
        print(f"{test.__name__}: done", flush=True)
    print(f"{len(failures)} failures")
    sys.exit(bool(failures))
