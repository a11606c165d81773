"""The four programs from the outside: `outside.py TASO-OPT TASO-RUN TASO-GEN TASO-VERIFY [--few]`.

Versions; standard output that cannot be written; outputs that are another output, an input, or cannot be written, which
is said before anything is read; and names of models that a terminal would obey, which nothing printed or written holds; with
--few one such.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPT, RUN, GEN, VERIFY = map(os.path.abspath, sys.argv[1:5])
USAGE, BAD_INPUT = 2, 3
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


def run(*command, **options):
    environment = dict(os.environ, XDG_CACHE_HOME=str(FOLDER / "cache"))
    return subprocess.run([*map(str, command)], stderr=subprocess.PIPE, env=environment, check=False, cwd=FOLDER,
                          **{"stdout": subprocess.PIPE} | options)


def write_model(path, x="x", y="y", inner="a", side=8):
    rng = np.random.default_rng(1)
    weights = [numpy_helper.from_array(rng.standard_normal((side, side)).astype(np.float32), f"w{i}") for i in range(2)]
    nodes = [helper.make_node("MatMul", [x, "w0"], [inner]), helper.make_node("MatMul", [x, "w1"], ["b"]),
             helper.make_node("Add", [inner, "b"], [y])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, side]) for name in (x, y)]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                       ir_version=8).SerializeToString())
    return path


def write_rules(path):
    path.write_text("(rule twice (source (relu (relu ?x))) (target (relu ?x)))\n", encoding="utf-8")
    return path


QUICK = ["--device", "fake", "--budget", "5", "--search-threads", "1"]


def check_versions():
    for program in (OPT, RUN, GEN, VERIFY):
        ran = run(program, "--version")
        name = pathlib.Path(program).name
        expect(ran.returncode == 0 and ran.stdout.decode().split()[0] == name and len(ran.stdout.split()) == 2,
               f"{name} --version: {ran}")


def check_full_device():
    """What was asked for was not given: no success."""
    if not os.access("/dev/full", os.W_OK):
        return
    model, rules = write_model(FOLDER / "m.onnx"), write_rules(FOLDER / "r.rules")
    for command in ([OPT, "--help"], [RUN, "--version"], [VERIFY, "--help"], [GEN, "--help"], [OPT, model, *QUICK],
                    [RUN, model, "--repeats", "1", "--costs", ""], [VERIFY, "rules", rules, "--no-z3"],
                    [VERIFY, "rules", "--help"], [VERIFY, "try", rules]):
        with open("/dev/full", "wb") as full:
            ran = run(*command, stdout=full)
        expect(ran.returncode == BAD_INPUT and b"cannot write standard output" in ran.stderr, f"{command}: {ran}")
    with open("/dev/full", "wb") as full:
        refused(BAD_INPUT, "cannot write standard output", OPT, model, *QUICK, "-q", "-o", "-", stdout=full)


def check_verdicts():
    """Who asks in a script is told by the exit code."""
    rules, false = write_rules(FOLDER / "r.rules"), FOLDER / "false.rules"
    false.write_text("(rule wrong (source (relu ?x)) (target ?x))\n", encoding="utf-8")
    for arguments, code in (([rules], 0), ([false], 1), ([false, "-o", FOLDER / "p.rules"], 1)):
        ran = run(VERIFY, "rules", *arguments, "--no-z3")
        expect(ran.returncode == code, f"rules {arguments}: {ran}")
    expect("refuted" in (FOLDER / "p.rules.rejected").read_text(encoding="utf-8"), "nothing says why it is rejected")


def check_seconds():
    """What many threads take of few processors is no more than what the program takes."""
    rules = FOLDER / "many.rules"
    rules.write_text("".join(f"(rule n{i} (source (relu (ewadd ?x (ewmul ?y ?z)))) (target (relu (ewadd (ewmul ?z ?y) ?x))))\n"
                             for i in range(40)), encoding="utf-8")
    def processor_seconds():
        return os.times().children_user + os.times().children_system
    before = processor_seconds()
    ran = run(VERIFY, "rules", rules, "-q", "-j", "40", "--slowest", "40")
    taken = processor_seconds() - before
    of_z3 = float(re.search(r"\(([\d.]+) s of Z3\)", ran.stdout.decode())[1])
    of_rules = sum(float(seconds) for seconds in re.findall(r"^ *([\d.]+) s,", ran.stderr.decode(), re.M))
    expect(of_z3 <= of_rules + 0.1 and of_rules <= taken + 0.1,   # as they are rounded
           f"{of_z3} s of Z3, {of_rules} s of rules, {taken} s in all")


def refused(code, said, *command, **options):
    before = {p: p.read_bytes() for p in FOLDER.iterdir() if p.is_file()}
    ran = run(*command, **options)
    after = {p: p.read_bytes() for p in FOLDER.iterdir() if p.is_file()}
    lines = ran.stderr.decode().strip().splitlines()
    expect(ran.returncode == code and len(lines) == 1 and said in lines[0], f"{command}: {ran}")
    expect(before == after, f"{command}: files were changed")


def check_same_files():
    model, rules = write_model(FOLDER / "m.onnx"), write_rules(FOLDER / "r.rules")
    (FOLDER / "old.onnx").write_bytes(b"old")
    os.link(FOLDER / "old.onnx", FOLDER / "hard")
    os.symlink("old.onnx", FOLDER / "soft")
    (FOLDER / "below").mkdir()
    for outputs in (["-o", "new", "--json", "new"], ["-o", "new", "--json", "below/../new"],
                    ["-o", "old.onnx", "--json", "hard"], ["-o", "old.onnx", "--html", "soft"],
                    ["--html", "new", "--json", "./new"], ["--json", model], ["-o", rules, "--rules", rules]):
        refused(USAGE, "are the same file", OPT, model, *QUICK, *outputs)
    for outputs in (["-o", "new", "--json", "new.costs", "--costs", "new.costs"], ["--costs", model]):
        refused(USAGE, "are the same file", OPT, model, *outputs)
    refused(USAGE, "not also n=8", OPT, model, *QUICK, "--profile", "m=4", "n=8")
    refused(USAGE, "are the same file", RUN, model, "--json", model)
    refused(USAGE, "are the same file", VERIFY, "rules", rules, "-o", "p", "--rejected", "p")
    refused(USAGE, "are the same file", VERIFY, "rules", rules, "-o", "p", "--rejected", rules)
    refused(USAGE, "are the same file", VERIFY, "select", rules, "-o", "p", "--dropped", "p")
    refused(USAGE, "are the same file", GEN, "--max-ops", "1", "-o", "p", "--minimal", "p")
    external = onnx.load(str(model))
    onnx.save_model(external, str(FOLDER / "e.onnx"), save_as_external_data=True, location="e.bin", size_threshold=10)
    refused(USAGE, "are the same file", OPT, "e.onnx", *QUICK, "--json", "e.bin")
    refused(USAGE, "no regular file", OPT, "e.onnx", *QUICK, "-o", "/dev/full")
    ran = run(OPT, model, *QUICK, "-o", "/dev/null", "--json", "/dev/null", "--html", "/dev/null")
    expect(ran.returncode == 0, f"devices are written by several: {ran}")
    ran = run(OPT, model, *QUICK, "-o", model)
    expect(ran.returncode == 0, f"the model may be replaced: {ran}")


WITHOUT_EFFECT = {
    OPT: ["--search saturation --budget 5", "--search saturation --alpha 2", "--search saturation --patience 5",
          "--k-multi 1", "--no-measure --finalists 2", "--no-measure --measure-seconds 1", "--no-check --tolerance 1",
          "--no-check --no-measure --seed 2", "--device fake --costs c", "--device fake --threads 1", "--device fake --python p",
          "--device fake --tolerance 1", "--device fake --seed 2", "--device fake --measure-seconds 1",
          "--device fake --finalists 2", "--device fake --runtime taso --threads 1",
          "--runtime taso --python p", "--layout layout-only --rules r.rules", "--layout layout-only --search both",
          "--layout layout-only --without r", "--layout layout-only --finalists 2", "-q --verbose", "--tf32"],
    RUN: [f"--measure-costs {option}" for option in ("--repeats 2", "--warmup 2", "--seed 2", "--integers 2", "--tolerance 1",
                                                     "--json j", "--plan", "--profile", "--estimate")]
    + ["--repair", "absent.onnx --tolerance 1"],
    VERIFY: ["model --no-numbers --tolerance 1", "model --no-field --operations 1", "model --no-rewrite --rules r.rules",
             "model --no-field --no-numbers --seed 2", "model --no-field --no-numbers --threads 2", "rules --no-z3 --steps 9",
             "rules --no-z3 --properties p", "properties --steps 9", "properties p --properties f"],
    GEN: ["--shard 1/2 --counts c"],
}


def check_effects():
    """What would change nothing is refused, before anything is read; beside an option with which it does it is taken."""
    for program, lines in WITHOUT_EFFECT.items():
        for line in lines:
            option = next(word for word in reversed(line.split()) if word.startswith("--"))
            refused(USAGE, f"option {option} has an effect only ", program, *line.split(), *["absent"] * (program == OPT))
    for option in ("--max-ops=3", "--space=s", "--families=f", "--with=relu", "--shortcuts=2", "--seed=2", "--checkpoint=c"):
        refused(USAGE, f"option {option.split('=')[0]} has no effect in merge", GEN, "merge", "part", "-o", "x", option)
    for line in ("--device fake --runtime onnxruntime --costs c --threads 1 --seed 2", "--search both --budget 5 --k-multi 1",
                 "--device fake --measure-command true --measure-seconds 1", "--no-check --seed 2"):
        refused(BAD_INPUT, "absent", OPT, "absent.onnx", *line.split())


def check_endings():
    """What is written follows from the name: one that says nothing is no ONNX model of a surprising name."""
    model = write_model(FOLDER / "m.onnx")
    for name in ("a.txt", "a", "a.onnx.tmp", ".taso.d", "onnx"):
        refused(USAGE, f"{name}: ends neither in .onnx nor in .taso", OPT, model, *QUICK, "-o", name)
    for name in ("a.onnx", "A.ONNX", "/dev/null"):
        ran = run(OPT, model, *QUICK, "-o", name)
        expect(ran.returncode == 0, f"-o {name}: {ran}")
    refused(USAGE, "unknown command rule: there are derivations, derive, explain, ", VERIFY, "rule")


def check_places():
    """Said of a model that is not there either: places are judged first."""
    rules = write_rules(FOLDER / "r.rules")
    for option in ("-o", "--json", "--html"):
        refused(BAD_INPUT, "none/x: ", OPT, "absent.onnx", *QUICK, option, "none/x")
        refused(BAD_INPUT, "below: ", OPT, "absent.onnx", *QUICK, option, "below")
    refused(BAD_INPUT, "none/x: ", RUN, "absent.onnx", "--json", "none/x")
    refused(BAD_INPUT, "none: ", RUN, "absent.onnx", "--save", "none")
    refused(BAD_INPUT, "none/x: ", VERIFY, "rules", rules, "-o", "none/x")
    refused(BAD_INPUT, "none/x: ", GEN, "-o", "new", "--minimal", "none/x")
    if os.geteuid() != 0:
        (FOLDER / "locked").mkdir(mode=0o500)
        refused(BAD_INPUT, "locked/x: ", OPT, "absent.onnx", *QUICK, "-o", "locked/x")


HIDDEN = {"an escape": "\x1b[31m", "C1": "\u009b31m", "right to left": "\u202e", "an isolate": "\u2066",
          "no width": "\u200b"}
FORGED = "\ntaso-opt: all is well"


def check_hidden():
    for case, mark in list(HIDDEN.items())[: 1 if "--few" in sys.argv else None]:
        model = write_model(FOLDER / "h.onnx", f"x{mark}{FORGED}", f"y{mark}{FORGED}", f"a{mark}")
        named = FOLDER / f"h{mark}.onnx"
        named.write_bytes(model.read_bytes())
        reports = [FOLDER / name for name in ("r.json", "r.html")]
        for command in ([OPT, named, "--explain", "--budget", "5", "--measure-seconds", "0.01", "--finalists", "1",
                         "--costs", "", "--json", *reports[:1], "--html", reports[1],
                         "-o", FOLDER / f"fast{mark}.onnx"],
                        [RUN, named, named, "--repeats", "1", "--costs", "", "--verbose", "--explain"],
                        [RUN, named, "--shape", f"x{mark}{FORGED}=4,9", "--costs", ""],
                        [VERIFY, "model", named, named], [OPT, f"none{mark}.onnx"], [VERIFY, f"none{mark}"],
                        [OPT, named, f"--{mark}"]):
            ran = run(*command)
            said = (ran.stdout + ran.stderr).decode()
            expect(mark not in said, f"{case}: {command}: {said!r}")
            expect(not any(line.startswith("taso-opt: all is well") for line in said.splitlines()),
                   f"{case}: {command}: a forged line: {said!r}")
        for report in reports:
            expect(mark not in report.read_text(encoding="utf-8"), f"{case} stands in {report.name}")
        named.unlink()


with tempfile.TemporaryDirectory() as name:
    FOLDER = pathlib.Path(name)
    check_versions()
    check_full_device()
    check_verdicts()
    check_seconds()
    check_same_files()
    check_effects()
    check_endings()
    check_places()
    check_hidden()
sys.exit(1 if failures else 0)
