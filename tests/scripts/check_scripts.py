"""Every script says what it is for and does nothing else when it is asked, and complains in one line: `check_scripts.py ROOT`.

--help ends with 0, an option that a script does not know with 2, and files that are not there, or hold nonsense, end with
a line that names the reason and an exit code that is not 0; none ends in a traceback.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
ABSENT, NONSENSE = "absent", "nonsense"
# What they are given that cannot be used; demo and test have no input but options.
BAD = {
    "build-provider-wheel": [[ABSENT, "out"]],
    "bench-models": [[ABSENT]],
    "bench-runtime": [[ABSENT]],
    "build-models": [[ABSENT], ["squeezenet-small", "--out", f"{NONSENSE}/below"]],
    "compare-peers": [[ABSENT]],
    "compare-providers": [[ABSENT]],
    "compare-simplifiers": [[ABSENT]],
    "compare-ort": [[ABSENT, ABSENT], [NONSENSE, NONSENSE]],
    "cuda-report": [["graphs", ABSENT, "out", ABSENT], ["run", f"{NONSENSE}/below"]],
    "embed-text": [["name", ABSENT, "out"]],
    "export-models": [[ABSENT]],
    "generate-rules": [["many"]],
    "judged-tables": [[ABSENT, ABSENT, ABSENT], [NONSENSE, NONSENSE, NONSENSE]],
    "large-model": [[f"{ABSENT}/m.onnx"]],
    "lint-includes": [[ABSENT]],
    "lint-operators": [[ABSENT]],
    "lint-rooms": [[ABSENT]],
    "lint-style": [[ABSENT]],
    "derivation-table": [[ABSENT]],
    "disturbed-costs": [[ABSENT]],
    "memory-table": [[ABSENT]],
    "onnx-tests-table": [[ABSENT]],
    "paper-figures": [[ABSENT]],
    "peak-memory": [["--", "./absent"], ["--of", ABSENT, "--", "true"]],
    "program-pages": [["man", ABSENT, "out"]],
    "prove-rules": [[ABSENT, ABSENT, "out", "kept"], [ABSENT]],
    "runtime-forms": [[ABSENT]],
    "saturation-tables": [[ABSENT, ABSENT]],
    "search-figures": [[ABSENT]],
    "search-scaling": [["--program", "./absent"]],
    "taso-rules": [[ABSENT], [NONSENSE]],
    "tensat-rules": [[ABSENT], ["."]],
    "true-costs": [[ABSENT]],
    "tuning-table": [[ABSENT]],
    "unproved-table": [[ABSENT]],
    "xla-table": [[NONSENSE], [NONSENSE, ABSENT]],
}


def run(script, arguments, folder):
    environment = dict(os.environ, TASO_PYTHON=sys.executable, TASO_VERIFY=os.path.abspath(sys.argv[0]))
    return subprocess.run([ROOT / "scripts" / script, *arguments], capture_output=True, text=True, cwd=folder, timeout=600,
                          env=environment, check=False)


def complaint(script, ran, code):
    if "Traceback" in ran.stderr:
        return "a traceback"
    if code is None and ran.returncode != 0 and ran.stderr.strip():
        return None
    if code is not None and ran.returncode == code and (ran.stdout if code == 0 else ran.stderr).strip():
        return None
    return f"exit code {ran.returncode}"


def main():
    failures = 0
    scripts = sorted(p.name for p in (ROOT / "scripts").iterdir() if p.is_file() and os.access(p, os.X_OK))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / NONSENSE).write_text("nonsense\n", encoding="utf-8")
        assert BAD.keys() | {"demo", "test"} == set(scripts), set(scripts) ^ BAD.keys()
        for script in scripts:
            cases = [(["--help"], 0), (["--nonsense"], 2)] + [(arguments, None) for arguments in BAD.get(script, [])]
            for arguments, code in cases:
                ran = run(script, arguments, folder)
                reason = complaint(script, ran, code)
                if reason:
                    print(f"{script} {' '.join(arguments)}: {reason}: {ran.stderr.strip()[-600:]}")
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
