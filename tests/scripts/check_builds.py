"""demo and test build in one folder with the same options, and demo no more than it runs: `check_builds.py ROOT`.

Both run in a copy of the scripts with a meson, a ninja and a taso-opt that only write down how they were called.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
SKIPPED = 77
ALSO_FOR_TESTS = "-Donnxruntime_headers"   # which changes nothing that demo has built
NOTE = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
"""
OPTIMIZES = NOTE + 'echo "python: $TASO_PYTHON"\n'


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def make_copy(folder):
    (folder / "scripts/lib").mkdir(parents=True)
    for name in ("demo", "test", "lib/setup.sh", "requirements.txt"):
        shutil.copy2(ROOT / "scripts" / name, folder / "scripts" / name)
    write_program(folder / "scripts/build-models", NOTE)
    write_program(folder / "scripts/lib/summarize-tests", NOTE)
    write_program(folder / "scripts/lib/onnxruntime-headers", NOTE)
    write_program(folder / "build/programs/taso-opt", OPTIMIZES)
    (folder / "build/build.ninja").write_text("", encoding="utf-8")
    (folder / "build/meson-logs").mkdir()
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("meson", "ninja"):
        write_program(folder / "programs" / name, NOTE)


def options_of(calls):
    words = next(line for line in calls if line.startswith("meson configure build ")).split()[3:]
    return {word for word in words if not word.startswith(ALSO_FOR_TESTS)}


def calls_of(script, folder):
    calls = folder / "calls"
    calls.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if k != "TASO_PYTHON"}
    environment |= {"CALLS": str(calls), "PATH": f"{folder / 'programs'}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run([folder / "scripts" / script], capture_output=True, text=True, timeout=600, env=environment,
                         check=False)
    assert ran.returncode == 0, ran.stderr
    return calls.read_text(encoding="utf-8").splitlines(), ran.stdout.splitlines()


def main():
    if not (ROOT / ".venv").exists():
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_copy(folder)
        demo, told = calls_of("demo", folder)
        test, _ = calls_of("test", folder)
        assert options_of(demo) and options_of(demo) == options_of(test), (demo, test)
        assert "ninja -C build programs/taso-opt" in demo, demo
        assert "ninja -C build all" in test, test
        assert demo[-1].startswith("taso-opt "), demo
        assert told[-1] == "python: .venv/bin/python3", told
    return 0


if __name__ == "__main__":
    sys.exit(main())
