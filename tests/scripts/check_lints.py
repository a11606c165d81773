"""Each lint finds what it is for: `check_lints.py ROOT` plants violations in a copy of the sources.

A lint says nothing of the copy as it is, and one thing of each violation: where, and what.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts"))
from lib.lint import sources_of  # noqa: E402

HEAD = "// A file.\n"
BUDGET = "above the budget"
LONG_FUNCTION = "void f(void)\n{\n" + "    g();\n" * 81 + "}\n"


def header(text):
    return f"{HEAD}#pragma once\n{text}"


# The lint, files that are added, and what it is to say.
PLANTED = [
    ("lint-includes", {"core/a.c": HEAD + '#include "graph/graph.h"\n'}, "core/a.c:2: core may not include graph"),
    ("lint-includes", {"onnx/format/a.c": HEAD + '#  include "graph/graph.h"\n'},
     "onnx/format/a.c:2: onnx/format may not include graph"),
    ("lint-includes", {"core/b.c": HEAD + '#include "a.h"\n'},
     'core/b.c:2: "a.h": project headers are included as "layer/file.h"'),
    ("lint-includes", {"core/c.c": HEAD + '#include "core/absent.h"\n'}, 'core/c.c:2: "core/absent.h" does not exist'),
    ("lint-includes", {"core/d.h": "int a;\n"}, "core/d.h:1: no #pragma once"),
    ("lint-includes", {f"core/{name}.h": header(f'#include "core/{other}.h"\n')
                       for name, other in ("ab", "bc", "ca")}, "includes itself by way of core/"),
    ("lint-includes", {"core/memory/a.c": HEAD + '#include "core/text/text.h"\n'}, "includes itself by way of core/"),
    ("lint-operators", {"verifier/a.c": HEAD + "int a = OP_CONV;\n"},
     "verifier/a.c:2: OP_CONV: ask operators/traits.h what it is"),
    ("lint-operators", {"optimizer/a.c": HEAD + 'int a = operator_find_attribute(op, "stride");\n'},
     'optimizer/a.c:2: "stride": ask for its role'),
    ("lint-operators", {"backends/cpu/a.c": HEAD + 'double a = cpu_attribute_real(n, "alpha");\n'},
     'backends/cpu/a.c:2: "alpha": ask for its role'),
    ("lint-operators", {"backends/cpu/moves.c": HEAD}, 'backends/cpu/moves.c: names no "value" any more'),
    ("lint-operators", {"optimizer/runtime/step_groups.c": HEAD},
     "optimizer/runtime/step_groups.c: makes no OP_BROADCAST any more"),
    ("lint-operators", {"compare/nestings.c": None}, "compare/nestings.c: is not there"),
    ("lint-rooms", {"core/a.h": header("void arena_init(struct arena *a);\n")},
     "core/a.h:3: arena_init stands in core/memory/arena.c"),
    ("lint-rooms", {"library/a.c": HEAD + "\n" * 200}, "library: "),
    ("lint-rooms", {f"generator/{a}.c": HEAD + f"void call_{a}(void)\n{{\n    call_{b}();\n}}\n" for a, b in ("xy", "yx")},
     "generator/x.c: calls itself by way of generator/y.c"),
    ("lint-rooms", {"optimizer/a.c": HEAD + "#define HALF 0.5\n"},
     "optimizer/a.c:2: a number that tunes stands in optimizer/limits.def"),
    ("lint-rooms", {"egraph/a.c": HEAD + "#define LEAST 3\nint a[LEAST];\n#define MOST 4\nbool b = c < MOST;\n"},
     "egraph: 4 integers that tune, 1 above the budget in scripts/rooms.txt"),
    ("lint-style", {"core/f.c": HEAD + "int slant_of_a;\n"}, "core/f.c:2: slant: the field says preference"),
    ("lint-style", {"docs/a.md": "Its duels.\n"}, "docs/a.md:1: duels: the field says pair"),
    ("lint-style", {"core/a.c": "int a;\n"}, "core/a.c:1: a comment that says what the file is should stand first"),
    ("lint-style", {"verifier/laws/a.c": HEAD}, "verifier/laws/a.c:1: which laws"),
    ("lint-style", {"core/text/a.c": HEAD + "void twice(int a,\n           int b)\n{\n}\n",
                    "graph/a.c": HEAD + "int twice(void)\n{\n}\n"}, "graph/a.c:2: twice stands in core/text/a.c, too"),
    ("lint-style", {"core/b.c": HEAD + "int b;\n// Of two.\nint a;\n"}, "core/b.c:3: the comment does not begin with what"),
    ("lint-style", {"core/e.c": HEAD + "int b;\n// By two.\nint a;\n"}, "core/e.c:3: the comment does not begin with what"),
    ("lint-style", {"core/a.h": "// " + "a" * 118 + "\n"}, "core/a.h:1: 121 columns"),
    ("lint-style", {"core/c.c": HEAD + LONG_FUNCTION}, "core/c.c:3: a function of 81 lines"),
    ("lint-style", {f"library/a{i}.c": HEAD for i in range(40)}, "library: 4"),
]


def copy_sources(folder):
    made = {f"{path.parent.name}/{path.name}": path for path in ROOT.glob("*/*.h.in")}
    for name, path in (sources_of(ROOT) | made).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)
    (folder / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts/rooms.txt", folder / "scripts/rooms.txt")


def complaints_of(lint, folder):
    ran = subprocess.run([sys.executable, "-B", ROOT / "scripts" / lint, folder], capture_output=True, text=True, check=False)
    *complaints, _ = ran.stdout.splitlines() or [""]
    return complaints if ran.returncode == (1 if complaints else 0) else [f"exit code {ran.returncode}: {ran.stderr}"]


def plant(folder, files):
    for name, text in files.items():
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


def restore(folder, files):
    originals = {name: (ROOT / name) for name in files}
    for name, original in originals.items():
        if original.exists():
            shutil.copyfile(original, folder / name)
        else:
            (folder / name).unlink()


def failures_of_commits(folder):
    """A repository of one commit each; a folder that is none has nothing to complain about."""
    git = ["git", "-C", folder, "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "user.name=A",
           "-c", "user.email=a@b.c"]
    for subject, complaint in (None, None), ("Add a file", None), ("A" * 73, "73 characters"), ("adds.", "no sentence that"):
        if subject:
            shutil.rmtree(folder / ".git", ignore_errors=True)
            subprocess.run([*git, "init", "--quiet"], check=True)
            subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", subject], check=True)
        said = complaints_of("lint-commits", folder)
        if len(said) != bool(complaint) or not all(complaint in c for c in said):
            yield f"lint-commits: {subject} is told as {said}"


def main():
    failures = []
    with tempfile.TemporaryDirectory() as name:
        failures += failures_of_commits(pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        copy_sources(folder)
        for lint in sorted({lint for lint, _, _ in PLANTED}):
            failures += [f"{lint}, nothing planted: {c}" for c in complaints_of(lint, folder)]
            planted = [(files, expected) for name, files, expected in PLANTED if name == lint]
            for files, _ in planted:
                plant(folder, files)
            said = complaints_of(lint, folder)
            for files, expected in planted:
                restore(folder, files)
                if sum(expected in c for c in said) != sum(expected == other for _, other in planted):
                    failures.append(f"{lint}: {expected!r} is planted, and said is {said}")
            others = [c for c in said if BUDGET not in c and not any(expected in c for _, expected in planted)]
            failures += [f"{lint}: nobody planted: {c}" for c in others]   # some rooms have some lines too many
    print("\n".join(failures + [f"{len(PLANTED)} violations planted, {len(failures)} not told as they should be"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
