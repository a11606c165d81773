"""Every script says what it is for and does nothing else when it is asked, and complains in one line: `check_scripts.py ROOT`.

--help ends with 0, an option that a script does not know with 2, and files that are not there, or hold nonsense, end with
a line that names the reason and an exit code that is not 0; none ends in a traceback.
"""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback
import types

import onnx.parser

ROOT = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = os.path.abspath(sys.argv[0])
sys.path.insert(0, str(ROOT / "scripts"))
from lib.command import run_script  # noqa: E402
from tables import __main__ as results  # noqa: E402
ABSENT, NONSENSE = "absent", "nonsense"
# What they are given that cannot be used; demo and test have no input but options.
BAD = {
    "bilinear-rules": [[ABSENT]],
    "build-models": [[ABSENT], ["squeezenet-small", "--out", f"{NONSENSE}/below"]],
    "build-wheels": [[ABSENT, "out"]],
    "compare-ort": [[ABSENT, ABSENT], [NONSENSE, NONSENSE]],
    "cuda-report": [["graphs", ABSENT, "out", ABSENT], ["run", f"{NONSENSE}/below"]],
    "embed-text": [["name", "out", ABSENT]],
    "export-models": [[ABSENT]],
    "family-rules": [[ABSENT], [NONSENSE]],
    "generate-rules": [["many"]],
    "large-model": [[f"{ABSENT}/m.onnx"]],
    "lint-commits": [[ABSENT]],
    "lint-includes": [[ABSENT]],
    "lint-operators": [[ABSENT]],
    "lint-rooms": [[ABSENT]],
    "lint-style": [[ABSENT]],
    "peak-memory": [["--", "./absent"], ["--of", ABSENT, "--", "true"]],
    "program-pages": [[ABSENT, "man", "out"]],
    "prove-rules": [[ABSENT, ABSENT, "out", "kept"], [ABSENT]],
    "results": [[ABSENT]],
    "taso-rules": [[ABSENT], [NONSENSE]],
    "tensat-rules": [[ABSENT], ["."]],
}
# Of `results NAME`, which is asked in this process.
OF_RESULTS = {
    "judged": [[ABSENT, ABSENT, ABSENT], [NONSENSE, NONSENSE, NONSENSE]],
    "saturation": [[ABSENT, ABSENT]],
    "scaling": [["--program", "./absent"]],
    "xla": [[NONSENSE], [NONSENSE, ABSENT]],
}


def run(script, arguments, folder):
    environment = dict(os.environ, TASO_PYTHON=sys.executable, TASO_VERIFY=PROGRAM)
    return subprocess.run([ROOT / "scripts" / script, *arguments], capture_output=True, text=True, cwd=folder, timeout=600,
                          env=environment, check=False)


def run_results(arguments):
    """As run, of scripts/results."""
    code, out, errors = 0, io.StringIO(), io.StringIO()
    sys.argv = ["results", *arguments]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            run_script(results.main)
        except SystemExit as ended:
            code = ended.code or 0
            code = code if isinstance(code, int) else print(code, file=sys.stderr) or 1
        except Exception:
            traceback.print_exc()
            code = 1
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())


def complaint(ran, code):
    if "Traceback" in ran.stderr:
        return "a traceback"
    if code is None and ran.returncode != 0 and ran.stderr.strip():
        return None
    if code is not None and ran.returncode == code and (ran.stdout if code == 0 else ran.stderr).strip():
        return None
    return f"exit code {ran.returncode}"


def complaints_about(script, bad, run_with):
    for arguments, code in [(["--help"], 0), (["--nonsense"], 2), *((arguments, None) for arguments in bad)]:
        ran = run_with(arguments)
        if reason := complaint(ran, code):
            yield f"{script} {' '.join(arguments)}: {reason}: {ran.stderr.strip()[-600:]}"


def check_peer(folder):
    """A load of a model in ONNX Runtime, as `results peers` and `results providers` ask for it."""
    from tables import peers
    model = folder / "relu.onnx"
    onnx.save(onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu(x) }'),
              model)
    (folder / "bin").mkdir()
    python = folder / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    os.environ["TASO_PEERS"] = str(folder)
    times = peers.time_peer("onnxruntime", model, 1, [], 0.01)
    if not 0 < times["best"] <= times["median"]:
        yield f"times of a peer: {times}"


def check_ours_without_estimate(folder):
    """Our executor is timed, too, where the search had no time to estimate the original."""
    from tables import peers
    runner = folder / "runner"
    runner.write_text("""#!/bin/sh\nfor file; do :; done\necho '{"models": [{"best": 1, "median": 2}]}' >"$file"\n""",
                      encoding="utf-8")
    runner.chmod(0o755)
    times = peers.time_ours("m.onnx", [], "costs", 1, 0.01, None, types.SimpleNamespace(runner=runner))
    if times != {"best": 1, "median": 2}:
        yield f"times of ours: {times}"


def main():
    scripts = sorted(p.name for p in (ROOT / "scripts").iterdir() if p.is_file() and os.access(p, os.X_OK))
    assert BAD.keys() | {"demo", "test"} == set(scripts), set(scripts) ^ BAD.keys()
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / NONSENSE).write_text("nonsense\n", encoding="utf-8")
        for script in scripts:
            found += complaints_about(script, BAD.get(script, []), lambda arguments, script=script: run(script, arguments, folder))
        os.chdir(folder)
        found += check_peer(folder)
        found += check_ours_without_estimate(folder)
        for table in results.TABLES:
            found += complaints_about(f"results {table}", OF_RESULTS.get(table, [[ABSENT]]),
                                      lambda arguments, table=table: run_results([table, *arguments]))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
