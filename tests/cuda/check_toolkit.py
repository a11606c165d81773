#!/usr/bin/env python3
"""Tests find_toolkit.py on the layouts that toolkits have: `check_toolkit.py FIND_TOOLKIT`."""
import pathlib
import subprocess
import sys
import tempfile

TOOLKIT = [
    "include/cuda_runtime_api.h",
    "include/crt/host_defines.h",
    "include/cublasLt.h",
    "include/cudnn.h",
    "include/nvrtc.h",
    "lib64/libcublasLt.so",
    "lib64/libcublasLt.so.13",
    "lib64/libcudart.so",
    "lib64/libcudnn.so",
    "lib64/libcudnn_graph.so",
    "lib64/libnvrtc.so",
    "lib64/libnvrtc-builtins.so",
]
WHEELS = [
    "cu13/include/cuda_runtime_api.h",
    "cu13/include/crt/host_defines.h",
    "cu13/include/cublasLt.h",
    "cu13/include/nvrtc.h",
    "cu13/lib/libcublasLt.so.13",
    "cu13/lib/libcudart.so.13",
    "cu13/lib/libnvrtc.so.13",
    "cu13/lib/libnvrtc.alt.so.13",
    "cu13/lib/libnvrtc-builtins.so.13.0",
    "cudnn/include/cudnn.h",
    "cudnn/lib/libcudnn.so.9",
    "cudnn/lib/libcudnn_ops.so.9",
]


def find(tool, root):
    return subprocess.run([sys.executable, tool, root], capture_output=True, text=True)


def make_tree(root, names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


def parts_of(done, kind):
    assert done.returncode == 0, done.stderr
    return [line.split(" ", 1)[1] for line in done.stdout.splitlines() if line.startswith(kind)]


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = make_tree(folder / "toolkit", TOOLKIT)
        found = find(tool, root)
        assert parts_of(found, "include") == [str(root / "include")]
        names = ["libcublasLt.so", "libcudart.so", "libcudnn.so", "libnvrtc.so"]
        assert parts_of(found, "library") == [str(root / "lib64" / library) for library in names]
        root = make_tree(folder / "nvidia", WHEELS)
        found = find(tool, root)
        assert parts_of(found, "include") == [str(root / "cu13/include"), str(root / "cudnn/include")]
        assert parts_of(found, "library")[2:] == [str(root / "cudnn/lib/libcudnn.so.9"), str(root / "cu13/lib/libnvrtc.so.13")]
        (root / "cudnn/include/cudnn.h").unlink()
        found = find(tool, root)
        assert found.returncode == 1 and found.stderr == "not found: cudnn.h\n", found.stderr


main()
