#!/usr/bin/env python3
"""Finds CUDA, cuDNN, cuBLASLt and NVRTC: `find_toolkit.py [ROOT]` prints lines `include DIR` and `library FILE`.

A root is the folder of a toolkit, of a system (/usr), or of NVIDIA's wheels (.../site-packages/nvidia), where each
library has a folder of its own. Without ROOT: $CUDA_HOME, $CUDA_PATH, that of nvcc, /usr/local/cuda, /usr, and the
wheels of this Python. The first root (or, for cuDNN that was installed apart, any of them) that has a part gives it.
Exit code 1 when something is missing; the reason is on stderr.
"""
import os
import pathlib
import shutil
import site
import sys

HEADERS = ["cuda_runtime_api.h", "crt/host_defines.h", "cublasLt.h", "cudnn.h", "nvrtc.h"]
LIBRARIES = ["libcublasLt.so", "libcudart.so", "libcudnn.so", "libnvrtc.so"]
INCLUDE_FOLDERS = ["include", "targets/*/include", "*/include", "include/*-linux-gnu"]
LIBRARY_FOLDERS = ["lib64", "lib", "targets/*/lib", "lib/*-linux-gnu", "*/lib"]


def usual_roots():
    nvcc = shutil.which("nvcc")
    packages = [*site.getsitepackages(), site.getusersitepackages()]
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    roots += [str(pathlib.Path(nvcc).resolve().parent.parent) if nvcc else None, "/usr/local/cuda", "/usr"]
    return [root for root in roots + [f"{folder}/nvidia" for folder in packages] if root]


def folders_of(root, patterns):
    return [folder for pattern in patterns for folder in sorted(root.glob(pattern)) if folder.is_dir()]


def find_header(roots, name):
    for root in roots:
        for folder in folders_of(root, INCLUDE_FOLDERS):
            if (folder / name).is_file():
                return folder
    return None


def find_library(roots, name):
    for root in roots:
        for folder in folders_of(root, LIBRARY_FOLDERS):
            # The plain name is a link that wheels lack; the shortest version behind it is what programs ask for.
            found = sorted(folder.glob(name + "*"), key=lambda path: (len(path.name), path.name))
            if found:
                return found[0]
    return None


def main():
    given = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None
    roots = [pathlib.Path(root) for root in ([given] if given else usual_roots()) if pathlib.Path(root).is_dir()]
    headers = {name: find_header(roots, name) for name in HEADERS}
    libraries = {name: find_library(roots, name) for name in LIBRARIES}
    missing = [name for name, found in {**headers, **libraries}.items() if found is None]
    if missing:
        print("not found: " + ", ".join(missing), file=sys.stderr)
        return 1
    for folder in dict.fromkeys(headers.values()):
        print("include", folder)
    for library in libraries.values():
        print("library", library)
    return 0


if __name__ == "__main__":
    sys.exit(main())
