"""One session with our provider: `-m tables.share_worker MODEL THREADS` prints, as JSON, the share of time that its regions take
and how far outputs are off those of ONNX Runtime's own provider. The log, which has the nodes, is on standard error."""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnxruntime

from models.runtime import random_inputs, session_of

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
from taso import provider

BATCH, LENGTH, PIXELS = 1, 128, 224   # the sizes for which the provider compiles what is not known
SHORT = 16                            # where a model has no place for that many


def shapes_of(session, length):
    """By input; equal symbols are of equal size."""
    sizes = {}
    for value in session.get_inputs():
        for axis, size in enumerate(value.shape):
            likely = BATCH if axis == 0 else PIXELS if len(value.shape) == 4 else length
            sizes.setdefault(size, size if isinstance(size, int) else likely)
    return {value.name: [sizes[size] for size in value.shape] for value in session.get_inputs()}


def run_alone(session):
    """Inputs that the model takes, and what they give; places in tables may have to be 0 or 1."""
    for length in LENGTH, SHORT:
        for is_small in False, True:
            inputs = {name: value % 2 if is_small and value.dtype.kind == "i" else value
                      for name, value in random_inputs(session, 1, shapes_of(session, length)).items()}
            try:
                return inputs, session.run(None, inputs)
            except Exception as failure:   # pylint: disable=broad-except # the runtime's own
                reason = failure
    raise reason


def difference(right, got):
    """Of two outputs, as a share of the largest entry; infinite where one is not what the other is."""
    if (right.dtype, right.shape) != (got.dtype, got.shape) or not np.array_equal(np.isfinite(right), np.isfinite(got)):
        return float("inf")
    right, got = (value[np.isfinite(right)].astype(np.float64) for value in (right, got))
    return float(np.abs(right - got).max(initial=0) / max(np.abs(right).max(initial=0), 1e-30))


def share_of_time(profile):
    events = json.loads(pathlib.Path(profile).read_text(encoding="utf-8"))
    times = [(event["args"]["provider"], event["dur"]) for event in events if event["name"].endswith("_kernel_time")]
    return sum(time for name, time in times if name == provider.NAME) / max(sum(time for _, time in times), 1)


def main():
    path, threads = sys.argv[1], int(sys.argv[2])
    inputs, expected = run_alone(session_of(path, threads))
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 1
        options.enable_profiling, options.profile_file_prefix = True, f"{folder}/profile"
        provider.register(options, threads=threads, measure=False, costs=os.environ["TASO_COSTS"])
        session = onnxruntime.InferenceSession(path, options)
        got = [session.run(None, inputs) for _ in range(3)][-1]
        share = share_of_time(session.end_profiling())
    apart = max(difference(right, ours) for right, ours in zip(expected, got, strict=True))
    print(json.dumps({"time": share, "difference": apart}))


if __name__ == "__main__":
    main()
