"""`taso-opt extract` from the outside: `extract.py TASO-OPT FUZZ-EGRAPH`, the latter the harness that reads many e-graphs,
or -.

Costs of small e-graphs that were worked out by hand; one line with file and reason, and exit code 3, for files that are
no e-graphs; no crash on files that were damaged at random; and signals end it while CBC works for minutes."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

OPT, HARNESS = (a if a == "-" else os.path.abspath(a) for a in sys.argv[1:3])
DONE, IMPOSSIBLE, USAGE, BAD_INPUT, UNSUPPORTED, SKIPPED = 0, 1, 2, 3, 4, 77
MOST_SECONDS = 600   # of what would otherwise take ten times as long, on a machine that others use, too
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


def node(eclass, cost, *children, **more):
    return {"op": "f", "eclass": eclass, "cost": cost, "children": list(children)} | more


# r reads a and b, or c; a and b read d. In trees d counts twice, so c is cheaper there. e is on a cycle with r.
SHARED = {"nodes": {"r0": node("r", 1, "a0", "b0"), "r1": node("r", 1, "c0"), "r2": node("r", 0, "e0"),
                    "a0": node("a", 1, "d0"), "b0": node("b", 1, "d0"), "c0": node("c", 14), "d0": node("d", 10),
                    "e0": node("e", 0, "r0")},
          "root_eclasses": ["r"]}


def with_node(**fields):
    return {"nodes": SHARED["nodes"] | {"bad": node("z", 1) | fields}, "root_eclasses": ["r"]}


REFUSED = {
    "empty": ("", "file.json:1"),
    "no JSON": ("nodes", "file.json:1"),
    "cut short": (json.dumps(SHARED)[:-20], "file.json:1"),
    "two values": (json.dumps(SHARED) * 2, "file.json:1"),
    "a key twice": ('{"nodes": {},\n "nodes": {}}', "file.json:2"),
    "a number that is too large": ('{"nodes": 1e999}', "file.json:1"),
    "broken UTF-8": (b'{"nodes": {"\xff": 1}}', "file.json:1"),
    "deep nesting": ("[" * 100000, "file.json:1"),
    "a list": ([], '"nodes"'),
    "no nodes": ({"root_eclasses": ["r"]}, '"nodes"'),
    "nodes as a list": ({"nodes": [], "root_eclasses": ["r"]}, '"nodes"'),
    "no roots": ({"nodes": SHARED["nodes"]}, '"root_eclasses"'),
    "an empty list of roots": (SHARED | {"root_eclasses": []}, '"root_eclasses"'),
    "an unknown root": (SHARED | {"root_eclasses": ["q"]}, '"q"'),
    "a root that is a number": (SHARED | {"root_eclasses": [1]}, '"root_eclasses"'),
    "a node that is a list": ({"nodes": {"bad": []}, "root_eclasses": ["r"]}, '"bad"'),
    "no class": ({"nodes": {"bad": {"cost": 1}}, "root_eclasses": ["r"]}, '"bad"'),
    "a class that is a number": (with_node(eclass=1), '"bad"'),
    "a cost that is a text": (with_node(cost="1"), '"bad"'),
    "a negative cost": (with_node(cost=-1), '"bad"'),
    "a huge cost": (with_node(cost=1e300), '"bad"'),
    "children as a text": (with_node(children="a0"), '"bad"'),
    "a child that is a number": (with_node(children=[0]), '"bad"'),
    "an unknown child": (with_node(children=["nowhere"]), '"nowhere"'),
    "a name with a control character": (with_node(children=["no\x1bwhere"]), '\\x1B'),
}


def extract(*arguments):
    return subprocess.run([OPT, "extract", *arguments], capture_output=True, check=False, cwd=FOLDER)


def write(content):
    path = FOLDER / "file.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def cost_of(output, way):
    return float(re.search(rf"^{way} +([0-9.e+-]+) ", output, re.M)[1])


def check_costs():
    done = extract(write(SHARED), "--cheapest", "9", "--json", "out.json")
    output = done.stdout.decode()
    expect(done.returncode == DONE, f"the shared e-graph: exit code {done.returncode}, {done.stderr}")
    expect("8 nodes, 6 classes, 1 roots" in output and "component has 2 classes" in output, f"sizes in {output!r}")
    expect(cost_of(output, "greedy, trees") == 15, "cost by trees")
    expect(cost_of(output, "greedy, DAGs") == 13, "cost by DAGs")
    expect(cost_of(output, "best") == 13 and "proved optimal" in output, "best cost")
    report = json.loads((FOLDER / "out.json").read_text(encoding="utf-8"))
    expect(report["is_proved"] and abs(report["bound"] - 13) < 1e-9, f"bound in {report}")
    expect([s["cost"] for s in report["selections"]] == [13, 15], f"the two selections in {report}")
    expect(report["selections"][0]["choices"] == {"r": "r0", "a": "a0", "b": "b0", "d": "d0"}, f"choices in {report}")


def check_defaults():
    left_out = {"nodes": {"r": {"eclass": "r"}}, "root_eclasses": ["r", "r"]}
    output = extract(write(left_out)).stdout.decode()
    expect(cost_of(output, "best") == 1, f"a cost that is left out is 1: {output!r}")


def check_impossible():
    cyclic = {"nodes": {"a": node("a", 1, "b"), "b": node("b", 1, "a")}, "root_eclasses": ["a"]}
    done = extract(write(cyclic))
    expect(done.returncode == IMPOSSIBLE and b"no graph can be taken out" in done.stdout, f"a mere cycle: {done}")


def check_refusals():
    for name, (content, place) in REFUSED.items():
        done = extract(write(content), "--json", "none.json")
        message = done.stderr.decode()
        expect(done.returncode == BAD_INPUT, f"{name}: exit code {done.returncode}")
        expect(message.count("\n") == 1 and "file.json" in message and place in message, f"{name}: {message!r}")
        expect(not done.stdout and not (FOLDER / "none.json").exists(), f"{name}: something was written")
    for arguments in ([], [write(SHARED), "two"], [write(SHARED), "--cheapest", "0"],
                      [write(SHARED), "--json", FOLDER / "file.json"]):
        expect(extract(*arguments).returncode == USAGE, f"usage: {arguments}")


def damage(text, rng):
    data = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        at, kind = rng.randrange(len(data)), rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randint(1, 20)]
        elif kind == 2:
            data[at:at] = rng.choice([b"{", b"[", b'"', b"null", b"-1", b"1e400", b",", b"\\u0000", b"\xff", b"true"])
        else:
            data[at:at] = data[at // 2:at // 2 + rng.randint(1, 30)]
        data = data or bytearray(b"x")
    return bytes(data)


def check_damaged():
    """Many by the harness, which reads one after the other; some by the program, for what it says of them."""
    rng = random.Random(20)
    damaged = [damage(json.dumps(SHARED).encode(), rng) for _ in range(1000)]
    codes = {DONE: 0, IMPOSSIBLE: 0, BAD_INPUT: 0}
    for i, content in enumerate(damaged[:40]):
        done = extract(write(content), "--branches", "2")
        expect(done.returncode in codes, f"damaged file {i}: exit code {done.returncode}, {done.stderr}")
        expect(done.returncode != BAD_INPUT or done.stderr.count(b"\n") == 1, f"damaged file {i}: {done.stderr}")
        codes[done.returncode] = codes.get(done.returncode, 0) + 1
    expect(codes[DONE] > 1 and codes[BAD_INPUT] > 10, f"too few of some kind among damaged files: {codes}")
    folder = FOLDER / "damaged"
    folder.mkdir()
    for i, content in enumerate(damaged):
        (folder / f"{i}.json").write_bytes(content)
    if HARNESS != "-":
        done = subprocess.run([HARNESS, folder], capture_output=True, check=False)
        expect(done.returncode == 0 and done.stdout == b"1000 inputs\n", f"the harness: {done}")


# Every class may read any others, so all are on cycles with one another.
def large_problem(n_classes=600, n_nodes=4, n_children=3):
    rng = random.Random(20)
    nodes = {f"{c}.{i}": node(str(c), rng.randint(1, 50), *(f"{rng.randrange(n_classes)}.0" for _ in range(n_children)))
             for c in range(n_classes) for i in range(n_nodes)}
    leaves = {f"{c}.leaf": node(str(c), 400 + rng.randint(1, 50)) for c in range(n_classes)}
    return {"nodes": nodes | leaves, "root_eclasses": [str(c) for c in range(0, n_classes, 10)]}


def children_of(process):
    return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()


def wait_for_solver(process):
    """Until CBC works, in a process of its own; or, in a build without CBC, until the search is on."""
    end = time.monotonic() + (MOST_SECONDS if HAS_SOLVER else 2)
    while time.monotonic() < end and process.poll() is None and not children_of(process):
        time.sleep(0.05)
    expect(process.poll() is None, "a large problem was solved before it could be interrupted")
    return children_of(process)


def run_and_signal(number):
    """Gives what it printed, and for how many seconds it and what it had started went on."""
    with subprocess.Popen([OPT, "extract", write(large_problem()), "--program-seconds", "6000", "--seconds", "6000"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=FOLDER) as process:
        solvers = wait_for_solver(process)
        started = time.monotonic()
        process.send_signal(number)
        output = process.communicate()[0].decode()
        while any(pathlib.Path(f"/proc/{pid}").exists() for pid in solvers) and time.monotonic() < started + MOST_SECONDS:
            time.sleep(0.01)
        return process.returncode, output, time.monotonic() - started


def check_signals():
    signal.signal(signal.SIGINT, signal.SIG_DFL)   # it may be ignored here, and would be by taso-opt
    for number in (signal.SIGINT, signal.SIGTERM):
        code, output, seconds = run_and_signal(number)
        expect(seconds < MOST_SECONDS, f"{number!r}: it went on for {seconds:.1f} s")
        expect(code == DONE and cost_of(output, "best") > 0 and "interrupted" in output, f"{number!r}: {code} {output!r}")
    code, _, seconds = run_and_signal(signal.SIGKILL)
    expect(code == -signal.SIGKILL and seconds < MOST_SECONDS, f"killed: {code}, its solver went on for {seconds:.1f} s")


with tempfile.TemporaryDirectory() as name:
    FOLDER = pathlib.Path(name)
    first = extract(write(SHARED), "--program-seconds", "1")
    HAS_SOLVER = b"without CBC" not in first.stdout
    if first.returncode == UNSUPPORTED:
        print("skipped: a build without JSON")
        sys.exit(SKIPPED)
    check_costs()
    check_defaults()
    check_impossible()
    check_refusals()
    check_damaged()
    check_signals()
sys.exit(1 if failures else 0)
