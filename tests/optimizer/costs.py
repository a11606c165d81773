"""Costs of steps and what is done where they are wrong: `costs.py ROOT TASO-OPT TASO-RUN`."""
import re
import resource

import onnx

from commands import FOLDER, OPT, QUICK, ROOT, RUN, UNTIMED, estimate_of, optimize, priced_too_high, run, succeed
from expectations import expect, run_tests, tests_of
from small_models import products, small_model


def settled(what, is_settled, model, *options):
    """One of a few runs of taso-opt: a contest that others disturb comes to nothing."""
    for _ in range(8):
        done, told = optimize(what, model, *options)
        if is_settled(told):
            break
    return done, told


def is_timed(told):
    return "speedup" in told


def test_agreement(folder):
    """By how much the sum of costs is off the whole model is told, in the report and as JSON."""
    model = products(folder / "priced.onnx")
    done, told = settled("priced", is_timed, model, *priced_too_high(model, folder / "priced.costs"), "--explain", *QUICK[:-1])
    expect("speedup" in told and 0 < told["speedup_low"] <= told["speedup"] <= told["speedup_high"], "timed")
    for which in ("before", "after"):
        error = told[f"timed_estimate_{which}"] / told[f"measured_seconds_{which}"]["minimum"] - 1
        expect(abs(told[f"estimate_error_{which}"] - error) <= 1e-9 * (1 + abs(error)), f"error of the estimate {which}")
        for told_so in f"{1e2 * error:+.1f} %", f"{1e3 * told[f'timed_estimate_{which}']:.4f} ms":
            expect(told_so in done.stdout, f"the agreement {which}, and the estimate that is believed in the end: {told_so}: {done.stdout}")
    expect(not told["costs_corrected"] and told["searches"] == 1, f"believed by request: {told['costs_corrected']}")
    originals = [c for c in told["contenders"] if c["model"] == "original"]
    expect(originals and len(originals) < len(told["contenders"]), f"all were timed: {told['contenders']}")
    expect(re.search(r"^  wrote +nothing, as no file was named \(-o\)$", done.stdout, re.M), f"what was written: {done.stdout}")


def test_calibration(folder):
    """Costs that the running model contradicts are replaced, stay in the database, and are believed from then on."""
    model, costs = products(folder / "wrong.onnx"), folder / "wrong.costs"
    options = priced_too_high(model, costs)[:-1]
    _, told = optimize("calibration", model, *options, *QUICK)
    expect(told["searches"] > 1 and told["costs_corrected"], f"searched from corrected costs: {told}")
    expect(all(c["seconds_after"] < 1 for c in told["costs_corrected"]), f"{told['costs_corrected']}")
    expect(told["estimated_seconds_before"] < 1, f"the search believed 1,000 s: {told['estimated_seconds_before']}")
    expect("in-model)" in costs.read_text() and "1e3" not in costs.read_text(), costs.read_text())
    known = costs.read_text()
    rewrites = [optimize("not measured", model, *options, *UNTIMED)[1]["rewrites"] for _ in range(2)]
    expect(rewrites[0] == rewrites[1] and costs.read_text() == known, "same database, same result")


def told_of_before(model, costs, options, known):
    """The verdict in `known` told again, in one of a few tries: other programs may be against it in both loads of one."""
    for _ in range(8):
        costs.write_text(known)
        done, told = optimize("the verdict of before", model, *options)
        if "verdict_of" in told:
            break
    return done, told


def first_contest(model, costs, options):
    _, first = settled("the first contest", lambda _: "(\"contest " in costs.read_text(), model, *options)
    expect("verdict_of" not in first and "(\"contest " in costs.read_text(), f"held, and kept: {costs.read_text()}")
    return first


def test_earlier_verdict(folder):
    """What a contest of the same plans came to before is told again, unless runs of now are against it."""
    model, costs = products(folder / "again.onnx"), folder / "again.costs"
    options = [*priced_too_high(model, costs), *QUICK[:-1]]
    first = first_contest(model, costs, options)
    verdict = re.compile(r"( 0*[1-9a-f]\S*) [^ \"]+ [^ \"]+ [^ \"]+ \d+\"")
    held = costs.read_text()
    low = max(1.001, first["speedup"] / 1.4)
    ratio, low, high = (float(f"{x:.6g}") for x in (1.9 * low, low, 1.99 * low))
    known = re.sub(verdict, rf'\1 {ratio:.6g} {low:.6g} {high:.6g} 9"', held)
    done, again = told_of_before(model, costs, options, known)
    expect([again[key] for key in ("speedup", "speedup_low", "speedup_high", "loads")] == [ratio, low, high, 9], f"{again}")
    expect("verdict_of" in again and "in 9 loads of 20" in done.stdout, f"it is told that it is of before: {done.stdout}")
    expect(again["optimized"] and costs.read_text() == known, f"what follows of it: {again}")
    for unsound in r'\1 1000 900 1100 9"', r'\1 0.9 1e-06 1e+06 9"', f' {16 * "0"} 0 0 0 0"':
        costs.write_text(re.sub(verdict, unsound, held))
        _, anew = settled("a verdict that is wrong, wide, or of others", is_timed, model, *options)
        expect("verdict_of" not in anew and anew["speedup"] < 900, f"held again: {unsound} {anew}")
        expect(" 1000 900 1100 " not in costs.read_text(), f"and what was doubted is replaced: {costs.read_text()}")


def test_nothing_found(folder):
    """Where nothing is rewritten the original is timed under all layouts that costs leave hope for, and told of with the best,
    not the last tried."""
    model = small_model(folder / "plain.onnx", """(float[1,32,56,56] x) => (float[1,32,56,56] y)
                        { p = Conv<pads = [1, 1, 1, 1]>(x, w)  y = Relu(p) }""", w=(32, 32, 3, 3))
    (folder / "other.rules").write_text("(rule other (source (neg (neg ?x))) (target ?x))\n")
    done, told = settled("nothing to rewrite", lambda told: told.get("measured_seconds_before"), model, "--costs",
                         folder / "plain.costs", "--rules", folder / "other.rules", *QUICK[:-1])
    expect(not told["rewrites"] and "speedup" not in told, f"nothing is gained: {told['rewrites']}")
    estimates = [c["estimated_seconds"] for c in told["contenders"]]
    expect(max(estimates) <= 1.5 * min(estimates), f"none is hopeless: {told['contenders']}")
    expect(told["measured_seconds_before"]["quartile1"] > 0 and "median of" in done.stdout, f"{done.stdout}")
    times = {c["layouts"]: c["seconds"] for c in told["contenders"]}
    expect(told["measured_seconds_before"] == times[told["layouts_before"]], f"of the fastest: {told['contenders']}")
    estimate, timed = told["estimated_seconds_with_layouts"], told["timed_estimate_before"]
    of = {c["layouts"]: c["estimated_seconds"] for c in told["contenders"]}   # without the best ones where they are standard
    for told_of, wanted in ((timed, of[told["layouts_before"]]), (estimate, of.get("best", of.get("standard")))):
        expect(abs(told_of - wanted) <= 1e-9 * wanted, f"with these layouts, but for the order of a sum: {told}")


def test_repair(folder):
    """Costs marked as doubtful are measured again first, all of them by request, and others are believed."""
    model, costs = products(folder / "doubtful.onnx"), folder / "doubtful.costs"
    options = priced_too_high(model, costs)
    wrong = costs.read_text()
    expect(estimate_of(model, *options[:-1]) > 1, "believed")
    expect(estimate_of(model, *options[:-1], "--repair") < 1 and estimate_of(model, *options[:-1]) < 1, "repaired")
    costs.write_text(re.sub(r"^(.* 1e3 1e3.*)\)$", r"\1 doubtful)", wrong, flags=re.M))
    expect(estimate_of(model, *options[:-1]) > 1, "doubtful costs serve")
    expect(optimize("doubtful", model, *options, *QUICK)[1]["estimated_seconds_before"] < 1, "measured again")
    done = run(RUN, model, "--repair")
    expect(done.returncode == 2, f"--repair alone: {done.returncode}")


def costs_bound_by_reading(model, costs):
    """What the model takes, and the entry of how fast memory is, which is made with it. Beside other programs a product may be
    too slow to be bound by reading, however often it is measured: then the entry is made up."""
    entry = re.compile(r'\n(\("memory: [^"]*") .*\)(?=\n)')
    for _ in range(4):
        costs.unlink(missing_ok=True)
        usual = estimate_of(model, "--costs", costs)
        if entry.search(costs.read_text()):
            break
    else:
        name = re.search('"(memory: .*)"', (ROOT / "backends/cpu/memory_probe.c").read_text())[1]
        costs.write_text(f'{costs.read_text()}("{name}" 2e-4 0.1)\n')
    return usual, entry.search(costs.read_text())


def test_costs_that_are_not_kept(folder):
    """As on a full disk, that has room for models: who names a file of costs is told by the exit code, what was there stays,
    and everything else is written."""
    model, costs, fast = products(folder / "kept.onnx"), folder / "kept.costs", folder / "kept.fast.onnx"
    others = "".join(f'("of another device {i:040}" 1e-3 0.1)\n' for i in range(2000))
    costs.write_text(f'(costs 2 "another")\n{others}')
    before = costs.read_text()
    for command in ([RUN, model, "--measure-costs"], [RUN, model, "--repeats", "1", "--layout", "best"],
                    [OPT, model, "-o", fast, *QUICK], [OPT, model, "-o", "-", *QUICK]):
        done = run(*command, "--costs", costs, "--threads", "1", text=False,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16)))
        told = done.stderr.decode().splitlines()
        expect(done.returncode == 3 and len(told) == 1 and "kept.costs" in told[0] and "File too large" in told[0],
               f"costs not kept: {command}: {done.returncode} {told}")
        expect(costs.read_text() == before and not list(folder.glob("kept.costs?*")), f"what is left: {command}")
    for written in fast.read_bytes(), done.stdout:
        onnx.checker.check_model(onnx.load_from_string(written))


def test_repair_of_reading(folder):
    """How fast memory is, which costs of weights are shares of, is measured again, too: by request, and where it is doubtful."""
    model = small_model(folder / "reading.onnx", "(float[1,1536] x) => (float[1,1536] y) { y = MatMul(x, w) }", w=(1536, 1536))
    costs = folder / "reading.costs"
    usual, reading = costs_bound_by_reading(model, costs)
    filled = costs.read_text()
    header = filled.splitlines()[0]
    for mark, more in (" doubtful", []), ("", ["--repair"]):
        slow = f"\n{reading[1]} 1.0e+6 0{mark})"
        costs.write_text(f"{header}{slow}\n" if mark else f"{filled[:reading.start()]}{slow}{filled[reading.end():]}")
        found = estimate_of(model, "--costs", costs, *more)
        expect(found < 100, f"a share of many days:{mark} {more} {found}, not {usual}: {costs.read_text()}")


def costs_of_products(folder):
    """Costs by which two products together cost 1 % more than apart, and three together 2 %."""
    costs = folder / "products.costs"
    for width in (32, 64, 96):
        model = small_model(folder / f"product{width}.onnx", f"(float[1,64] x) => (float[1,{width}] y) {{ y = MatMul(x, w) }}",
                            w=(64, width))
        succeed("taso-run --measure-costs", RUN, model, "--measure-costs", "--costs", costs, "--threads", "1")
    price = {32: "1e3", 64: "2.02e3", 96: "3.06e3"}
    costs.write_text(re.sub(r'(f32\[64x(\d+)\][^"]*") \S+ [^ )]+', lambda m: f"{m[1]} {price[int(m[2])]} 0", costs.read_text()))
    return costs


def test_finalists(folder):
    """What estimates hold for slightly worse is found as well, and the models themselves decide."""
    model, costs = products(folder / "products.onnx"), costs_of_products(folder)
    for finalists in (1, 3):
        _, told = optimize(f"{finalists} finalists", model, "--costs", costs, "--layout", "standard", "--finalists", finalists,
                           "--no-calibrate", *QUICK)
        expect((told["finalists"] > 1) == (finalists > 1), f"{finalists} finalists: {told}")
        expect(bool(told["rewrites"]) == (told["preference"] != "as estimated"), f"the preference of the best: {told}")
    # What was found under other prices is told at the same ones as everything else, and worked on by one validator.
    before, after, trajectory = told["estimated_seconds_before"], told["estimated_seconds_after"], told["search"]["trajectory"]
    expect([trajectory[0]["estimated_seconds"], trajectory[-1]["estimated_seconds"]] == [before, after], f"the trajectory: {trajectory}")
    if told["rewrites"]:   # or else the original won, which other programs can make it
        expect(abs(told["rewrites"][-1]["estimated_seconds_after"] - after) <= 1e-9 * after, f"the rewrites: {told}")
    expect(told["search"]["validated"] >= len(told["rules_applied"]), f"validated: {told['search']}")


run_tests(tests_of(globals()), FOLDER)
