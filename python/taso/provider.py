"""`taso.register`: sessions of ONNX Runtime run what taso runs faster by the plugin libonnxruntime_providers_taso.so."""
from __future__ import annotations

import os
import pathlib
from typing import Any

from .api import _texts_of

NAME, _LIBRARY = "TasoExecutionProvider", "libonnxruntime_providers_taso.so"
_BESIDE = [pathlib.Path(__file__).parent, pathlib.Path(__file__).parents[4]]   # in the wheel, and in a prefix's lib


def library_path() -> str:
    """The plugin: the file that TASO_PROVIDER names, or the one that was installed with onnxruntime-ep-taso, or with this
    package."""
    named = os.environ.get("TASO_PROVIDER")
    for path in [pathlib.Path(named)] if named else [*_packaged(), *(folder / _LIBRARY for folder in _BESIDE)]:
        if path.is_file():
            return str(path.resolve())
    raise FileNotFoundError(f"{named or _LIBRARY} is not there: this build of taso has no provider for ONNX Runtime")


def _packaged():
    try:
        import onnxruntime_ep_taso
    except ImportError:
        return []
    return [pathlib.Path(onnxruntime_ep_taso.get_library_path())]


def register(session_options: Any = None, **options: Any) -> list:
    """Registers the plugin with the onnxruntime of this Python (1.23 or later), once, and gives its devices.

    Sessions that are made with `session_options` (onnxruntime.SessionOptions) use it then: whatever it measures to be
    faster, ONNX Runtime's own provider runs the rest. `options` are those of taso-opt, `_` for `-`, of which `threads`
    should be the session's `intra_op_num_threads`, and `time` is how many seconds a session may take to open.

        options = onnxruntime.SessionOptions()
        taso.register(options, threads=2)
        session = onnxruntime.InferenceSession("model.onnx", options)
    """
    import onnxruntime

    if not hasattr(onnxruntime, "register_execution_provider_library"):
        raise RuntimeError(f"onnxruntime {onnxruntime.__version__} takes no plugins: 1.23 or later is needed")
    if not _devices(onnxruntime):
        onnxruntime.register_execution_provider_library("taso", library_path())
    devices = _devices(onnxruntime)
    if session_options is not None:
        chosen = {name.replace("_", "-"): text for name, value in options.items() for text in _texts_of(value)}
        session_options.add_provider_for_devices(devices, chosen)
    return devices


def _devices(onnxruntime):
    return [device for device in onnxruntime.get_ep_devices() if device.ep_name == NAME]
