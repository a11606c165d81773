"""The plugin execution provider of taso for ONNX Runtime, which is installed by itself (1.23 or later):

    import onnxruntime, onnxruntime_ep_taso
    onnxruntime.register_execution_provider_library("taso", onnxruntime_ep_taso.get_library_path())
    devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == onnxruntime_ep_taso.get_ep_name()]
    options = onnxruntime.SessionOptions()
    options.add_provider_for_devices(devices, {"threads": "2"})
    session = onnxruntime.InferenceSession("model.onnx", options)
"""
import pathlib

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]


def get_library_path() -> str:
    """The plugin's file, for onnxruntime.register_execution_provider_library."""
    return str(pathlib.Path(__file__).resolve().with_name("libonnxruntime_providers_taso.so"))


def get_ep_name() -> str:
    """What the provider is called in sessions and devices."""
    return "TasoExecutionProvider"


def get_ep_names() -> list[str]:
    """All providers of the library."""
    return [get_ep_name()]
