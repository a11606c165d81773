"""Whether a model file is worth testing with: valid, and its outputs of order one and moved by every input."""

import numpy as np
import onnx

from models.runtime import random_inputs, session_of, run

LEAST_SPREAD, LARGEST_SPREAD, LEAST_MOVE = 0.02, 50.0, 0.02


def complaints_about(path):
    """A list of sentences, empty for a good model; and a line of numbers."""
    onnx.checker.check_model(path, full_check=True)
    session = session_of(path)
    first, second = (run(session, random_inputs(session, seed)) for seed in (1, 2))
    plain = run(session_of(path, optimized=False), random_inputs(session, 1))
    found, numbers = [], []
    for name, a, b, c in zip((o.name for o in session.get_outputs()), first, second, plain):
        spread, move = a.std(), np.abs(a - b).max() / np.abs(a).max()
        noise = np.abs(a - c).max() / np.abs(a).max()
        numbers.append(f"{name} std {spread:.3g} moved {move:.3g} noise {noise:.1e}")
        if not LEAST_SPREAD <= spread <= LARGEST_SPREAD:
            found.append(f"output '{name}' has standard deviation {spread:.3g}")
        if not move >= LEAST_MOVE:
            found.append(f"output '{name}' hardly depends on the inputs ({move:.3g})")
    return found, ", ".join(numbers)
