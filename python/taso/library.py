"""The C library (include/taso.h) by ctypes: what `taso.optimize` and `taso.Session` stand on.

The library is the file that TASO_LIBRARY names, libtaso.so.1 beside this module or in the prefix that this module is
installed in, or what the loader finds.
"""
import ctypes
import os
import pathlib
import re

ABI_VERSION, NAME = 1, "libtaso.so.1"
DONE, CHECK_FAILED, USAGE = 0, 1, 2
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Failure(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_uint), ("column", ctypes.c_uint),
                ("file", ctypes.c_char * 256), ("message", ctypes.c_char * 768)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_int),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Verdict(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("verdict", ctypes.c_char_p), ("is_proved", ctypes.c_int),
                ("reason", ctypes.c_char_p), ("text", ctypes.c_char_p)]


_OBJECT, _TEXT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_FAILURE, _POINTERS = ctypes.POINTER(Failure), ctypes.POINTER(ctypes.c_void_p)
_FUNCTIONS = {
    "taso_abi_version": (ctypes.c_int, []),
    "taso_version": (_TEXT, []),
    "taso_options_new": (_OBJECT, []),
    "taso_options_free": (None, [_OBJECT]),
    "taso_options_set": (ctypes.c_int, [_OBJECT, _TEXT, _TEXT, _FAILURE]),
    "taso_options_set_progress": (None, [_OBJECT, PROGRESS, _OBJECT]),
    "taso_optimize_file": (ctypes.c_int, [_OBJECT, _TEXT, _TEXT, _POINTERS, _FAILURE]),
    "taso_optimize_buffer": (ctypes.c_int, [_OBJECT, _TEXT, _SIZE, ctypes.POINTER(Buffer), _POINTERS, _FAILURE]),
    "taso_buffer_free": (None, [ctypes.POINTER(Buffer)]),
    "taso_report_text": (_TEXT, [_OBJECT]),
    "taso_report_json": (_TEXT, [_OBJECT]),
    "taso_report_html": (_TEXT, [_OBJECT]),
    "taso_report_free": (None, [_OBJECT]),
    "taso_verify_rules": (ctypes.c_int, [_OBJECT, _TEXT, _POINTERS, _FAILURE]),
    "taso_verify_properties": (ctypes.c_int, [_OBJECT, _TEXT, _POINTERS, _FAILURE]),
    "taso_verdicts_count": (_SIZE, [_OBJECT]),
    "taso_verdicts_get": (Verdict, [_OBJECT, _SIZE]),
    "taso_verdicts_free": (None, [_OBJECT]),
    "taso_session_open_file": (_OBJECT, [_OBJECT, _TEXT, _FAILURE]),
    "taso_session_open_buffer": (_OBJECT, [_OBJECT, _TEXT, _SIZE, _FAILURE]),
    "taso_session_close": (None, [_OBJECT]),
    "taso_session_input_count": (_SIZE, [_OBJECT]),
    "taso_session_output_count": (_SIZE, [_OBJECT]),
    "taso_session_input": (Tensor, [_OBJECT, _SIZE]),
    "taso_session_output": (Tensor, [_OBJECT, _SIZE]),
    "taso_session_run": (ctypes.c_int, [_OBJECT, _POINTERS, _POINTERS, _FAILURE]),
}


class Error(Exception):
    """What the library refuses or fails at; `status` is the exit code that the programs have for it, and `report` that of
    `taso.optimize`, where there is one."""

    def __init__(self, failure, report=None):
        place = failure.file.decode(errors="replace")
        message = _in_python(failure.message.decode(errors="replace"))
        super().__init__(f"{place}: {message}" if place else message)
        self.status, self.report = failure.status, report or {}


class UsageError(Error, ValueError):
    """A value that an argument may not have, or arguments that do not go together."""


def error_of(failure, report=None):
    return (UsageError if failure.status == USAGE else Error)(failure, report)


def _in_python(message):
    """What is said of options is said of arguments: `--no-measure` is `measure=False`."""
    message = re.sub(r"\boption (?:--)?([a-z][\w-]*)", lambda found: "argument " + found[1].replace("-", "_"), message)
    return re.sub(r"(?<![\w-])--(no-)?([a-z][\w-]*)",
                  lambda found: found[2].replace("-", "_") + ("=False" if found[1] else ""), message)


def _candidates():
    if os.environ.get("TASO_LIBRARY"):
        return [os.environ["TASO_LIBRARY"]]
    here = pathlib.Path(__file__).resolve().parent
    installed = [here / NAME]
    if len(here.parents) > 3:   # PREFIX/share/taso/python/taso
        prefix = here.parents[3]
        installed += [prefix / "lib" / NAME, prefix / "lib64" / NAME, *sorted(prefix.glob(f"lib/*-linux-*/{NAME}"))]
    return [str(path) for path in installed if path.is_file()] + [NAME]


def load():
    """The library with the types of all its functions; ImportError where it is not there or of another version."""
    failures = []
    for candidate in _candidates():
        try:
            library = ctypes.CDLL(candidate)
        except OSError as failure:
            failures.append(str(failure))
            continue
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        if library.taso_abi_version() != ABI_VERSION:
            raise ImportError(f"{candidate} has version {library.taso_abi_version()} of the interface, not {ABI_VERSION}")
        return library
    raise ImportError("; ".join(failures) + " (TASO_LIBRARY names the library where it is elsewhere)")
