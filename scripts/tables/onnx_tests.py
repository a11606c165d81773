"""Writes docs/results/onnx-tests.md from what the test programs say of ONNX's own tests, and prints their names by reason.

`results onnx-tests [BUILD]`: BUILD is a build folder with tests/onnx/onnx_expect and onnx_pass.
"""
import collections
import pathlib
import subprocess
import sys
import textwrap

import onnx
import onnxruntime

from tables.common import ROOT, bare_parser

TESTS = ROOT / "tests/onnx"
GROUPS = ["node", "simple", "pytorch-converted", "pytorch-operator", "light"]


def lines_of(script, *arguments):
    done = subprocess.run([sys.executable, TESTS / script, *arguments], capture_output=True, text=True)
    return done.stdout.splitlines()


def verdicts_of_execution(build, *options):
    """{folder: (verdict, reason)} of every test folder."""
    root = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    folders = sorted(path.parent for path in root.rglob("model.onnx"))
    done = subprocess.run([build / "tests/onnx/onnx_expect", "--cpu", *options, *folders], capture_output=True,
                          text=True)
    verdicts = {}
    for line in done.stdout.splitlines():
        folder, _, verdict = line.partition(": ")
        kind, _, reason = verdict.partition(" (")
        verdicts[str(pathlib.Path(folder).relative_to(root))] = (kind, reason.rstrip(")"))
    return verdicts


def verdicts_of_writing(build):
    """{reason: names} of what is not run, what fails, and the last line of pass.py."""
    lines = lines_of("pass.py", build / "tests/onnx/onnx_pass", "test_", "light_")
    not_run, failed = collections.defaultdict(list), []
    for line in lines[:-1]:
        name, _, verdict = line.partition(": ")
        kind, _, remark = verdict.partition(" (")
        if kind == "not run":
            not_run[remark.rstrip(")")].append(short(name.removesuffix("/model.onnx")))
        elif kind != "equal":
            failed.append(line)
    return not_run, failed, lines[-1]


def paragraph(text):
    return [textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)]


def kind_of(name):
    """Node tests begin with their operator; of others it counts where they come from."""
    return name.split("/")[0] if "/" in name else name.split("_")[0]


def by_reason(names):
    """A row for each reason, and all names on standard output."""
    out = ["| reason | tests | of |", "|---|--:|---|"]
    for reason, members in sorted(names.items(), key=lambda item: (-len(item[1]), item[0])):
        kinds = collections.Counter(map(kind_of, members))
        told = ", ".join(f"{kind} {n}" if n > 1 else kind for kind, n in sorted(kinds.items()))
        out.append(f"| {reason} | {len(members)} | {told} |")
        print(f"{reason}: {' '.join(sorted(members))}")
    return out + [""]


def short(name):
    return name.split("/", 1)[1].removeprefix("test_") if name.startswith("node/") else name


def count_table(executed, bound):
    rows = []
    for group in GROUPS:
        members = [n for n in executed if n.startswith(group + "/")]
        if not members:
            continue
        equal = sum(executed[n][0] == "equal" for n in members)
        more = sum(bound[n][0] == "equal" for n in members)
        differ = sum(executed[n][0] == "DIFFERS" or bound[n][0] == "DIFFERS" for n in members)
        rows.append(
            f"| {group} | {len(members)} | {equal} | {more} | {differ} |"
        )
    return ["| tests | all | executed and equal | with their parameters constant | differ |", "|---|---|---|---|---|",
            *rows]


def parse_arguments():
    parser = bare_parser(__doc__)
    parser.add_argument("build", nargs="?", default="build", type=pathlib.Path, help="(default: %(default)s)")
    return parser.parse_args()


def main(options):
    build = options.build.resolve()
    executed = verdicts_of_execution(build)
    bound = verdicts_of_execution(build, "--bind")
    not_run, failed, summary = verdicts_of_writing(build)
    kept = collections.defaultdict(list)
    for name, (kind, reason) in bound.items():
        if kind != "equal":
            kept[reason if kind == "opaque" else f"{kind}: {reason}"].append(short(name))
    out = [
        "# ONNX's own tests",
        "",
        f"The tests that come with onnx {onnx.__version__}; written by `scripts/results onnx-tests`, which "
        "prints each test's name, too.",
        "",
        "## Reading and writing",
        "",
        *paragraph(f"Every model is imported as a graph, exported again, accepted by `onnx.checker`, and run by ONNX "
                   f"Runtime {onnxruntime.__version__} on the test's inputs beside the original: {summary}. "
                   + ("None fails." if not failed else f"{len(failed)} fail.")),
        "",
        *failed,
        *by_reason(not_run),
        "## Executing",
        "",
        *paragraph("What the graph expresses runs on the CPU backend and is compared with the expected outputs: the "
                   "largest difference must be within 1e-5 of the largest value (5e-3 for 16-bit numbers), integers "
                   "are compared exactly. Node tests have as inputs what real models have as constants (axes, shapes, "
                   "scales); the fourth column counts them with these made constant."),
        "",
        *count_table(executed, bound),
        "",
        "The others have a node that is kept as it is, by the reason of the first such node:",
        "",
        *by_reason(kept),
    ]
    (ROOT / "docs/results/onnx-tests.md").write_text("\n".join(out))

