"""The options of taso-opt as keyword arguments. Written by `ninja -C build options-page`; a test compares."""
from __future__ import annotations

import os
from typing import Literal, Mapping, Sequence, TypedDict, Union

Path = Union[str, "os.PathLike[str]"]
Sizes = Union[int, Sequence[int]]
Named = Union[str, Sequence[str], Mapping[str, Sizes]]   # {"x": (1, 3, 224, 224)} or "x=1,3,224,224", or several of these


class Options(TypedDict, total=False):
    """All may be left out."""

    shape: Named
    profile: Named
    inputs: Path
    fold_limit: Union[int, str]
    simplify: bool
    simplify_only: bool
    device: Literal["cpu", "fake", "cuda"]
    threads: int
    runtime: Path
    python: Path
    measure_command: Path
    layout: Literal["standard", "joint", "sequential", "graph-only", "layout-only", "auto"]
    tf32: bool
    exact: bool
    total_time: float
    tune: float
    time: float
    max_memory: Union[int, str]
    budget: int
    patience: int
    measure_seconds: float
    finalists: int
    search_threads: int
    check: bool
    tolerance: float
    validate: bool
    measure: bool
    weight_growth: float
    seed: int
    search: Literal["backtracking", "saturation", "both"]
    rules: Path
    derive: bool
    without: Union[str, Sequence[str]]
    only_proved: bool
    strict_nan: bool
    max_rule_ops: int
    alpha: float
    egraph_rules: Path
    egraph_nodes: int
    egraph_rounds: int
    k_multi: int
    costs: Path
    calibrate: bool


HELP = {
    "shape":
        "the shape of an input, or SYMBOL=8 for a symbolic dimension",
    "profile":
        "sizes of a symbolic dimension to optimize for; it stays symbolic. The standard is 1 for a first dimension, 224 for those of images, else 128",
    'inputs':
        "check and time with the arrays there instead of the first random ones: NAME.npy for an input of that name, or input_0.npy, input_1.npy, ... in the model's order",
    "fold_limit":
        "compute constant tensors of up to N elements at import, and 64 N in all, in 1,000 N operations (default 1M)",
    "simplify":
        "where nothing else is gained, write the model with its constants computed, and without equal, dead and idle nodes, unless that is slower (default on)",
    "simplify_only":
        "search and measure nothing: write the simplified model, compared with the original in ONNX Runtime where that is there, within seconds",
    "device":
        "what to optimize for: cpu, cuda (docs/manual/cuda.md), fake (computed costs; runs nothing) (default cpu)",
    "threads":
        "threads that the model will run on; 0: all that this process may use (default 0)",
    "runtime":
        "where models are timed: taso (our own executor) or onnxruntime[:PROVIDER], whose providers are those of the Python that has it; the standard is onnxruntime when it is there, an .onnx file is written and the device is cpu",
    "python":
        "the Python that has onnxruntime; the standard is what TASO_PYTHON names, or python3",
    'measure_command':
        "time models by this command instead: it is given a model's path and prints the seconds of one run",
    "layout":
        "how rewriting and choosing the layouts of tensors go together: joint, standard (by rule), sequential, graph-only, layout-only; auto: joint for our own executor, standard for other runtimes (default auto)",
    "tf32":
        "products of f32 on tensor cores that drop bits (cuda)",
    'exact':
        "no kernels that lose more digits than another order of sums does, as Winograd's convolutions do: else they move outputs by 0.8 of tolerance at most, in our own executor",
    "total_time":
        "take about so long for everything: searching, measuring, timing, the check and writing; 0: no limit (default 0)",
    "tune":
        "search schedules of generated kernels for so long, half of it before the rewriting and half behind it, for models that our own executor runs; what is tried stays in the cost database (default 0)",
    "time":
        "stop the search after this time; 0: no limit (default 0)",
    "max_memory":
        "what the program may hold in all: the search drops its costliest candidates first, models for which there is no room are not timed, and what then does not fit ends with exit code 4 and nothing written; 0: three quarters of what is free in the beginning (default 0)",
    "budget":
        "backtracking: graphs to expand; the search also ends after 1800 units of work (numbers that describe what is priced) for each of them, and 20000 for each node of the model (default 1000)",
    "patience":
        "backtracking: end the search when N graphs in a row were expanded, or as much work as four times as many matches take was done, without 0.1 % being gained; 0: no limit (default 750)",
    "measure_seconds":
        "for how long to time both models (default 3)",
    "finalists":
        "search N times, with different preferences, and keep what is fastest when timed as a whole (default 3)",
    "search_threads":
        "threads that the search itself uses; 0: all that this process may use; the result is the same for any number (default 0)",
    "check":
        "compare the result with the original on random inputs (default on)",
    "tolerance":
        "largest allowed max|a - b| / max|a| of an output; 0.01 at least where anything has 16 bits, and with tf32 (default 1e-05)",
    "validate":
        "compute entries of every rewritten tensor both ways, over a prime field, before it is rewritten (default on)",
    "measure":
        "time both models, and keep the original unless the result is faster (default on)",
    'weight_growth':
        "the weights of the result take at most X times what the model's take, or 16 MB more; 0: no limit (default 1.1)",
    "seed":
        "of the random inputs (default 1)",
    "search":
        "backtracking; saturation of e-graphs; or both: saturation from what backtracking found on (default backtracking)",
    "rules":
        "the substitutions",
    "derive":
        "look for new operators, too, that hold for the products and convolutions of this model; in a FILE.onnx only what operators of ONNX are enough for. Unless it is said: in a FILE.taso at those that leave entries out (transposed and dilated convolutions, bands of products)",
    "without":
        "do not use this rule",
    "only_proved":
        "use only rules that ship with this build as proved for all sizes, in whatever file; certificates count for nothing",
    "strict_nan":
        "take only rewrites after which all entries are computed as before, to the last bit: NaN, infinities and signed zeros stay what they are",
    "max_rule_ops":
        "use no rule with more than N operators on either side; 0: no limit (default 0)",
    "alpha":
        "backtracking: keep graphs that cost up to X times the best so far (default 1.05)",
    "egraph_rules":
        "saturation: the substitutions of its e-graph; the standard is egraph.rules, which ships beside taso.rules, or what rules names",
    "egraph_nodes":
        "saturation: e-nodes to make in each e-graph (default 5000)",
    "egraph_rounds":
        "saturation: how often all rules are applied in an e-graph, at most (default 15)",
    "k_multi":
        "saturation: in how many of these rounds rules with several outputs are (default 2)",
    "costs":
        "cost database; the standard is a file in the cache folder",
    "calibrate":
        "correct costs by what steps take inside of the models, and search again from these (default on)",
}
