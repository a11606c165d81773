"""One load of a model in another runtime: `-m tables.peer_worker PEER MODEL THREADS SECONDS [--shape NAME=DIMS]...` prints the
shortest and the median run as JSON. Runs in the environment of `results peers`."""

import json
import os
import pathlib
import statistics
import sys
import time

PEERS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "torch": "PyTorch", "compiled": "torch.compile"}
PROVIDER = "ONNX Runtime with taso"
LEAST_RUNS, WARM_UP = 5, 2


def make_inputs(path, shapes):
    from models.runtime import random_inputs, session_of
    return random_inputs(session_of(path), 1, shapes)


def load_onnxruntime(path, threads, inputs):
    from models.runtime import session_of
    session = session_of(path, threads)
    return lambda: session.run(None, inputs)


def options_with_provider(threads):
    import onnxruntime
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
    from taso import provider
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    provider.register(options, threads=threads, costs=os.environ["TASO_COSTS"])
    return options


def load_provider(path, threads, inputs):
    import onnxruntime
    session = onnxruntime.InferenceSession(path, options_with_provider(threads))
    is_symbolic = any(isinstance(d, str) for i in session.get_inputs() for d in i.shape)
    for _ in range(100 if is_symbolic else 0):   # sizes that were not known are compiled beside the first runs
        session.run(None, inputs)
        time.sleep(0.1)
    return lambda: session.run(None, inputs)


def compile_by_provider(path, threads, inputs):
    """Writes the model with EPContext nodes to the file that TASO_COMPILED names; nothing where it has none."""
    import onnxruntime
    options = options_with_provider(threads)
    options.add_session_config_entry("ep.context_enable", "1")
    options.add_session_config_entry("ep.context_embed_mode", "0")
    options.add_session_config_entry("ep.context_file_path", os.environ["TASO_COMPILED"])
    session = onnxruntime.InferenceSession(path, options)
    return lambda: session.run(None, inputs)


def load_openvino_provider(path, threads, inputs):
    import onnxruntime
    import onnxruntime_ep_openvino as plugin
    onnxruntime.register_execution_provider_library("openvino", plugin.get_library_path())
    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == plugin.get_ep_name() and d.device.type.name == "CPU"]
    if not devices:
        raise RuntimeError("it offers no device for this processor")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_provider_for_devices(devices, {"num_of_threads": str(threads)})
    session = onnxruntime.InferenceSession(path, options)
    return lambda: session.run(None, inputs)


def load_openvino(path, threads, inputs):
    import openvino
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(value.shape) for name, value in inputs.items()})
    options = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(model, "CPU", options).create_infer_request()
    return lambda: request.infer(inputs)


def load_torch(path, threads, inputs, is_compiled=False):
    import onnx2torch
    import torch
    torch.set_num_threads(threads)
    model = onnx2torch.convert(path).eval()
    values = [torch.from_numpy(value) for value in inputs.values()]

    if is_compiled:
        import torch._inductor.config
        torch._inductor.config.freezing = True
        model = torch.compile(model, mode="max-autotune")

    def run():
        with torch.no_grad():
            model(*values)
    return run


def load_compiled(path, threads, inputs):
    return load_torch(path, threads, inputs, is_compiled=True)


def time_once(run, threads):
    """As taso-run times: with one thread, without what other programs took from it."""
    begin, worked = time.perf_counter(), time.process_time()
    run()
    seconds, worked = time.perf_counter() - begin, time.process_time() - worked
    return min(seconds, worked) if threads == 1 else seconds


def times_of(run, threads, seconds):
    for _ in range(WARM_UP):
        run()
    times, started = [], time.perf_counter()
    while len(times) < LEAST_RUNS or time.perf_counter() - started < seconds:
        times.append(time_once(run, threads))
    return times


def main():
    peer, path, threads, seconds, *rest = sys.argv[1:]
    shapes = dict(shape.split("=") for shape in rest if "=" in shape)
    shapes = {name: [int(d) for d in dims.split(",")] for name, dims in shapes.items()}
    load = {"onnxruntime": load_onnxruntime, "openvino": load_openvino, "torch": load_torch, "compiled": load_compiled,
            "provider": load_provider, "compile": compile_by_provider, "openvino-provider": load_openvino_provider}[peer]
    inputs = make_inputs(os.environ.get("TASO_ORIGINAL", path), shapes)   # a compiled model tells its provider alone
    times = times_of(load(path, int(threads), inputs), int(threads), float(seconds))
    print(json.dumps({"best": min(times), "median": statistics.median(times)}))


if __name__ == "__main__":
    main()
