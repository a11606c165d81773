"""The pages that taso-opt writes: `report.py ROOT TASO-OPT [--few]`. What they say is compared with the JSON report; where
there is a Chromium, a page is opened in it and its buttons are pressed. With --few of one model, and nothing of progress."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import onnx

from made_up import price_too_high

ROOT, OPT, HAS_FEW = pathlib.Path(sys.argv[1]), sys.argv[2], "--few" in sys.argv
MODELS = ["squeezenet", "bert", "nasrnn"][: 1 if HAS_FEW else None]
VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """Which elements there are, whether they nest, and the text of table cells by the table's id."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.tables, self.cell = [], [], {}, None
        self.feed(text)
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes, [a.get("id") for _, a in self.open]))
        if tag not in VOID:
            self.open.append((tag, attributes))
        if tag == "table":
            self.tables[attributes["id"]] = []
        elif tag == "tr":
            self.table().append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), [a.get("id") for _, a in self.open]))

    def handle_endtag(self, tag):
        opened, _ = self.open.pop()
        assert opened == tag, f"</{tag}> ends <{opened}>"
        if tag in ("td", "th"):
            self.table()[-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def table(self):
        return next(self.tables[a["id"]] for tag, a in reversed(self.open) if tag == "table")

    def nodes(self, side):
        return [a["class"].split() for tag, a, above in self.elements if tag == "g" and side in above]


def check_self_contained(text, page):
    for tag, attributes, _ in page.elements:
        assert not {"src", "href", "srcset"} & set(attributes), f"<{tag}> refers to something: {attributes}"
        assert tag not in ("link", "iframe", "img", "object"), tag
    assert not re.search(r"https?://|url\(|@import", text)


def count_nodes(path):
    """Of a file: those that depend on its inputs."""
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    known, n = {value.name for value in graph.input} - weights, 0
    for node in graph.node:
        if known & set(node.input):
            known.update(node.output)
            n += 1
    return n


def check_graphs(page, told, files):
    for side in ("before", "after"):
        nodes = page.nodes(side)
        operators = [n for n in nodes if "leaf" not in n]
        assert len(operators) == count_nodes(files[side]), (side, len(operators))
        assert sum(told[f"operators_{side}"].values()) == told[f"nodes_{side}"], side
        assert any("c" in n for n in nodes) == bool(told["rewrites"]), f"what has changed is not marked {side}"
        assert not all("c" in n for n in nodes), f"everything is marked {side}"


def check_tables(page, told):
    rules = {name: int(n) for name, n in page.tables["rules_applied"]}
    assert rules == told["rules_applied"]
    generated = sum(n for name, n in rules.items() if re.search(r"-[0-9a-f]{12}$", name))
    assert told["applications_of_generated_rules"] == generated
    assert told["applications_of_written_rules"] == sum(rules.values()) - generated
    rewrites = page.tables["rewrites"][1:]
    assert [row[2] for row in rewrites] == [step["rule"] for step in told["rewrites"]]
    gain, wanted = (sum(float(row[0].split()[0]) for row in rewrites), 1e3 * (told["estimated_seconds_before"] - told["estimated_seconds_after"]))
    assert abs(gain - wanted) <= 1e-4 * len(rewrites), f"gains of all rewrites, and the whole: {gain} {wanted}"
    for column, key in ((2, "estimated_seconds_before"), (4, "estimated_seconds_after")):
        rows = page.tables["costs"][1:]
        total = sum(float(row[column]) for row in rows)
        assert abs(total - 1e3 * told[key]) <= 1e-4 * len(rows), (key, total)
    steps = page.tables["steps"][1:]
    assert any(re.fullmatch(r"[\w, ]+ -> [\w, ]+", row[3]) for row in steps), "no step tells its layouts"
    total = sum(float(row[1]) for row in steps)
    assert abs(total - 1e3 * told["estimated_seconds_after"]) <= 1e-4 * len(steps)


def check_origins(text, printed, told):
    """Who found the rules is told in every report."""
    generated, written = told["applications_of_generated_rules"], told["applications_of_written_rules"]
    for label, n in (("generated", generated), ("written", written)):
        assert re.search(rf"<td>applications of {label} rules</td><td class=\"r\">{n}</td>", text), label
        assert re.search(rf"^  applications of {label} rules +{n}$", printed, re.M), label


def check_course(page, told):
    trajectory = told["search"]["trajectory"]
    seconds = [point["estimated_seconds"] for point in trajectory]
    assert seconds == sorted(seconds, reverse=True) and len(trajectory) == told["search"]["adopted"] + 2
    assert seconds[0] == told["estimated_seconds_before"] and seconds[-1] == told["estimated_seconds_after"]
    line = next(a["points"] for tag, a, _ in page.elements if tag == "polyline")
    heights = [float(point.split(",")[1]) for point in line.split()]
    assert heights == sorted(heights) and len(heights) == 2 * len(trajectory) - 1


# Presses every button of the first graph, turns the wheel, and writes down what came of it; and whether the trajectory of the
# search and the change that is shown are drawn within their frames.
PRESSING = """<script>
const said = [], panel = document.querySelector(".graph"), svg = panel.querySelector("svg");
const width = () => Number(svg.getAttribute("viewBox").split(" ")[2]);
const press = action => panel.querySelector(`[data-action=${action}]`).click();
press("whole"); const whole = width();
press("in"); said.push(width() < whole);
press("out"); press("out"); said.push(width() > whole);
press("whole"); said.push(width() === whole);
press("next"); said.push(svg.querySelectorAll(".n.c.here").length === 1);
const box = element => element.getBoundingClientRect();
const isWithin = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
const isDrawn = (element, frame) => box(element).width > 10 && box(element).height > 5 && isWithin(box(element), box(frame));
said.push(isDrawn(svg.querySelector(".n.c.here"), svg));
const trajectory = document.querySelector("polyline"), chart = trajectory.ownerSVGElement;
said.push(isDrawn(trajectory, chart) && 2 * box(trajectory).width > box(chart).width && 2 * box(trajectory).height > box(chart).height);
svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: 200, clientY: 400, cancelable: true }));
said.push(width() !== 900);
document.body.dataset.said = said.join(" ");
</script>"""


def check_in_browser(path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("no chromium: pages are not opened")
        return
    pressed = path.with_name("pressed.html")
    pressed.write_text(path.read_text(encoding="utf-8").replace("</body>", PRESSING + "</body>"), encoding="utf-8")
    profile = path.with_name("profile")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                           "--dump-dom", pressed.as_uri()], capture_output=True, text=True, check=False, timeout=600)
    if "</html>" not in done.stdout:
        print("chromium does not run here:", done.stderr.strip().splitlines()[-1:])
        return
    assert 'data-ready="yes"' in done.stdout, "the script of the page did not run to its end"
    assert re.search(r'data-said="true true true true true true true"', done.stdout), re.findall(r'data-said="[^"]*"', done.stdout)


def shown_on(terminal):
    """All that is written there until the other end is closed."""
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(terminal)
    return shown


def check_progress(model):
    """On a terminal a bar shows the best cost, how many graphs were expanded and are queued, and how long it takes: no
    longer than it may."""
    try:
        ours, its = os.openpty()
    except OSError as error:
        print("no terminals here, so that no bar is looked at:", error)
        return
    done = subprocess.run([OPT, model, "--device", "fake", "--budget", "100000", "--time", "4"], stderr=its,
                          stdout=subprocess.DEVNULL, check=True)
    os.close(its)
    shown = shown_on(ours)
    assert done.returncode == 0
    assert re.search(rb"search: \[#*\.*\].*best [\d.]+ ms of [\d.]+, \d+ graphs? expanded, \d+ queued", shown), shown
    left = [int(seconds) for seconds in re.findall(rb"about (\d+) s left", shown)]
    assert left and max(left) <= 4 and left == sorted(left, reverse=True), (left, shown)


def check_progress_of_timing(model):
    """The bar goes on when the search is over, while models are run."""
    try:
        ours, its = os.openpty()
    except OSError:
        return
    costs = model.with_name("timed.costs")
    command = [OPT, model, "--runtime", "taso", "--threads", "1", "--costs", costs, "--no-check"]
    subprocess.run([*command, "--budget", "0", "--no-measure", "--quiet"], check=True)
    price_too_high(costs)   # a contest that takes longer than it should would begin anew
    process = subprocess.Popen([*command, "--no-calibrate", "--budget", "20", "--measure-seconds", "2"], stderr=its,
                               stdout=subprocess.DEVNULL)
    os.close(its)
    shown = shown_on(ours)
    assert process.wait() == 0
    shares = [int(share) for share in re.findall(rb"timing the models: \[#*\.*\] +(\d+) %", shown)]
    assert len(shares) > 1 and shares == sorted(shares) and shares[-1] > shares[0], (shares, shown)


def check_saturation(model):
    """What an e-graph did stands in the page and in the text as in the JSON report."""
    page, report = model.with_name("saturated.html"), model.with_name("saturated.json")
    ran = subprocess.run([OPT, model, "--device", "fake", "--search", "saturation", "--html", page, "--json", report, "--explain"],
                         check=True, capture_output=True, text=True)
    text, told = page.read_text(encoding="utf-8"), json.loads(report.read_text())
    of_egraph = told["search"]["saturation"]
    shown = {name: int(n) for name, n in Page(text).tables["unions"]}
    assert shown and shown == of_egraph["unions"], (shown, of_egraph["unions"])
    for label, key in (("its e-nodes", "nodes"), ("its classes", "classes"), ("rounds of the last", "rounds")):
        assert re.search(rf"^  {label} +{of_egraph[key]}$", ran.stdout, re.M), label
    for key in "bound_seconds", "extracted_seconds":
        assert f"<td class=\"r\">{1e3 * of_egraph[key]:.4f} ms</td>" in text, key


def check_threads(model):
    """The search finds the same, on any number of threads."""
    found = []
    for threads in (1, 2, 3):
        fast, report = model.with_name(f"fast{threads}.onnx"), model.with_name(f"fast{threads}.json")
        subprocess.run([OPT, model, "-o", fast, "--device", "fake", "--quiet", "--budget", "100", "--search-threads",
                        str(threads), "--json", report], check=True)
        told = json.loads(report.read_text())
        counts = {key: n for key, n in told["search"].items() if key not in ("seconds", "trajectory")}
        found.append((fast.read_bytes(), told["rewrites"], counts))
    assert found[0][1] and found[0] == found[1] == found[2]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([ROOT / "scripts/build-models", "--small", "--out", folder, *MODELS], check=True)
        for model in MODELS:
            page, report, fast = (folder / f"{model}.{kind}" for kind in ("html", "json", "fast.onnx"))
            ran = subprocess.run([OPT, folder / f"{model}-small.onnx", "--device", "fake", "--html", page,
                                  "--json", report, "-o", fast, "--budget", "60", "--explain"], check=True, capture_output=True, text=True)
            text, told = page.read_text(encoding="utf-8"), json.loads(report.read_text())
            parsed = Page(text)
            check_self_contained(text, parsed)
            check_graphs(parsed, told, {"before": folder / f"{model}-small.onnx", "after": fast})
            check_tables(parsed, told)
            check_origins(text, ran.stdout, told)
            check_course(parsed, told)
            print(f"{model}: {len(parsed.nodes('before'))} nodes, {len(told['rewrites'])} rewrites")
        check_saturation(folder / "squeezenet-small.onnx")
        check_threads(folder / "squeezenet-small.onnx")
        if not HAS_FEW:
            check_progress(folder / "squeezenet-small.onnx")
            check_progress_of_timing(folder / "squeezenet-small.onnx")
        check_in_browser(folder / "squeezenet.html")


if __name__ == "__main__":
    main()
