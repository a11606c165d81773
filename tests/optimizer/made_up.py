"""Times that are made up, so that what a test comes to does not depend on how fast this machine is, or how busy: costs in a
file, and a Python for --python whose worker says what models take. Tuning, which measures, takes the time that it needs."""
import re
import sys


def price_too_high(costs):
    """Every step that the file knows takes 1,000 seconds, and none is doubtful: it would be measured again. How fast memory is
    stays."""
    priced, n_priced = re.subn(r'^(\("(?!memory)(?:[^"\\]|\\.)*") .*\)$', r"\1 1e3 1e3)", costs.read_text(), flags=re.M)
    assert n_priced, f"no step to price: {priced}"
    costs.write_text(priced)


def tune_until_kept(tune, costs):
    """What tune(MINUTES) gives with as many as it takes until trials are kept that other programs did not disturb: a slow
    machine compiles nothing in a few seconds, and a busy one measures nothing."""
    for minutes in "0.05", "0.2", "1", "5":
        costs.unlink(missing_ok=True)
        done = tune(minutes)
        if any(" by " in line and not line.endswith(" doubtful)") for line in costs.read_text().splitlines()):
            break
    return done


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


WORKER = f"""#!{sys.executable}
import os, pathlib, sys
script = sys.argv.pop(1)
sys.path.insert(0, os.path.dirname(os.path.dirname(script)))
pathlib.Path({{folder!r}}, "worker.pid").write_text(str(os.getpid()))
from taso import worker
class Other(worker.Worker):
{{methods}}
worker.Worker = Other
worker.main()
"""


def misbehaving(folder, name, methods):
    return script(folder / name, WORKER.format(folder=str(folder), methods=methods))


PROFILED = """    def profile(self, which, seconds, least, *sizes):
        import os, onnx
        paths = [os.fsdecode(self.connection.read_bytes(int(size))) for size in sizes]
        self.n_profiles = getattr(self, 'n_profiles', 0) + 1

        def kernels_of(path, n_profiles):
            return {rule}

        found = [kernels_of(path, self.n_profiles) if path else [] for path in paths]
        wholes = [str(sum(seconds for _, seconds in kernels)) for kernels in found]
        return ' '.join([str(len(found[0]))] + wholes + [f'{{name}} {{seconds}}' for name, seconds in found[0]])
"""


TIMED = """    def load(self, name, kind, size):
        import os, onnx
        data = self.connection.read_bytes(int(size))
        self.nodes = getattr(self, 'nodes', {{}})
        model = onnx.load(os.fsdecode(data)) if kind == 'file' else onnx.load_from_string(data)
        self.nodes[name] = [node.output[0] for node in model.graph.node if node.op_type == 'MatMul']
        with open({log!r}, 'a') as log:
            print(sorted(self.nodes[name]), file=log)
        self.drop(name)
        self.models[name] = self.runtime.InferenceSession(data if kind == 'bytes' else os.fsdecode(data))
        return ''

    def run(self, name):
        made = self.nodes[name]
        return '1 ' + str(1.0 - 0.2 * ('xa' not in made) + 0.1 * ('ya' not in made))
"""

# A millisecond for each product, and hardly anything for all else, whether it runs alone or in a model.
BY_PRODUCTS = TIMED.format(log="/dev/null") + """
    def run(self, name):
        return f'1 {1e-3 * len(self.nodes[name]) + 1e-9}'

    def bound(self, name, *words):
        return '4' + 4 * f' {1e-3 * len(self.nodes[name]) + 1e-9}'
"""
