#!/usr/bin/env python3
"""Runs a program on every case that `tests/fuzz/malformed-models` writes, and checks what it does.

    run_malformed.py [options] -- PROGRAM {model} -o {output} ...

{model} and {output} stand for the model's path and a path in an empty folder, which is also the working, home and
cache folder of the run. Asked of every run: no signal, no sanitizer's report, an end within --timeout seconds and
--memory MiB, the case's own files untouched. Of `reject`: exit code 3, one line on stderr that names a file of the
case, nothing on stdout, nothing written. Of `survive`: an exit code from 0 to 4, and the same as above where it is 3.
Of `accept`: 0.

Exit codes: 0 all as it should be, 1 some case is not, 77 no cases could be made, or no case has such a name."""

import argparse
import collections
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

REJECTED, CODES = 3, {"accept": {0}, "reject": {3}, "survive": {0, 1, 2, 3, 4}}
SKIPPED = 77
CHANGED_AT_RANDOM = ("flipped-", "overwritten-", "random-")
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|Assertion .* failed")
Outcome = collections.namedtuple("Outcome", "code stdout stderr peak late written touched")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", metavar="PROGRAM", nargs="+", help="the command, after --")
    parser.add_argument("--cases", metavar="DIR", type=pathlib.Path,
                        help="cases that tests/fuzz/malformed-models has written (default: write them for this run)")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only cases with such a name")
    parser.add_argument("--few", action="store_true", help="each third of those that were changed at random")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="each Nth case alone (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=200.0, help="seconds a case may take (default: %(default)s)")
    parser.add_argument("--memory", type=float, default=1024.0, help="MiB a case may use (default: %(default)s)")
    return parser.parse_args()


def fingerprint(folder):
    """Names, kinds, sizes and times of all files in a folder."""
    found = []
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found.append((str(path), status.st_mode, status.st_size, status.st_mtime_ns))
    return found


def environment_in(folder):
    return {**os.environ, "HOME": folder, "XDG_CACHE_HOME": folder + "/cache", "TMPDIR": folder, "LC_ALL": "C",
            "UBSAN_OPTIONS": "print_stacktrace=1"}


def run_to_its_end(arguments, folder, timeout):
    """Exit code (negative: a signal), stdout, stderr, the peak of resident memory in MiB, and whether it was killed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            arguments, cwd=folder, env=environment_in(folder), stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), process.kill()))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return process.returncode, *texts, usage.ru_maxrss / 1024, late.is_set()


def run(case, options):
    with tempfile.TemporaryDirectory() as folder:
        places = {"{model}": str(case / "model.onnx"), "{output}": f"{folder}/output.onnx"}
        before = fingerprint(case)
        code, stdout, stderr, peak, late = run_to_its_end(
            [places.get(word, word) for word in options.command], folder, options.timeout)
        written = [str(path.relative_to(folder)) for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]
    return Outcome(code, stdout, stderr, peak, late, written, fingerprint(case) != before)


def complaints_about(verdict, case, outcome, memory):
    if outcome.late:
        return ["did not end in time"]
    complaints = []
    if outcome.code < 0 or SANITIZER.search(outcome.stderr):
        complaints.append(f"crashed (exit code {outcome.code}): {outcome.stderr.strip()[:2000]}")
    elif outcome.code not in CODES[verdict]:
        complaints.append(f"exit code {outcome.code}: {outcome.stderr.strip()[:500]}")
    if outcome.peak > memory:
        complaints.append(f"used {outcome.peak:.0f} MiB")
    if outcome.touched:
        complaints.append("touched the files of the case")
    if outcome.code == REJECTED:
        complaints += complaints_about_a_rejection(case, outcome)
    return complaints


def complaints_about_a_rejection(case, outcome):
    lines = outcome.stderr.splitlines()
    if len(lines) != 1 or not outcome.stderr.endswith("\n"):
        yield f"{len(lines)} lines on stderr: {outcome.stderr[:500]!r}"
    elif f"{case.name}/" not in lines[0]:
        yield f"the line names no file of the case: {lines[0]!r}"
    elif not lines[0].isprintable():
        yield f"the line has control characters: {lines[0]!r}"
    if outcome.stdout:
        yield f"wrote to stdout: {outcome.stdout[:200]!r}"
    if outcome.written:
        yield f"wrote files: {outcome.written}"


def cases_in(folder, options):
    for verdict in CODES:
        cases = sorted((folder / verdict).glob("*"))
        changed = [case for case in cases if case.name.startswith(CHANGED_AT_RANDOM)]
        left_out = set(changed) - set(changed[::3]) if options.few else set()
        for case in cases[::options.every]:
            if case not in left_out and fnmatch.fnmatch(case.name, options.only):
                yield verdict, case


def run_all(folder, options):
    codes, failures = collections.Counter(), 0
    for verdict, case in cases_in(folder, options):
        outcome = run(case, options)
        codes[verdict, outcome.code] += 1
        complaints = complaints_about(verdict, case, outcome, options.memory)
        failures += bool(complaints)
        for complaint in complaints:
            print(f"{verdict}/{case.name}: {complaint}")
    for (verdict, code), count in sorted(codes.items()):
        print(f"{verdict}: {count} cases with exit code {code}")
    print(f"{failures} of {codes.total()} cases failed")
    return (1 if failures else 0) if codes else SKIPPED


def write_cases(folder):
    script = pathlib.Path(__file__).resolve().with_name("malformed-models")
    environment = {"TASO_PYTHON": sys.executable, **os.environ}
    return subprocess.run([script, "--out", folder], env=environment, check=False).returncode == 0


def main():
    options = parse_arguments()
    options.command[0] = str(pathlib.Path(options.command[0]).resolve())
    if options.cases:
        return run_all(options.cases.resolve(), options)
    with tempfile.TemporaryDirectory(prefix="malformed-") as name:
        return run_all(pathlib.Path(name), options) if write_cases(name) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
