"""`taso.optimize`, `taso.Session` and `taso.verify`: models made faster and run, and rewrites proved."""
from __future__ import annotations

import ctypes
import difflib
import errno
import html
import importlib.util
import inspect
import json
import os
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional, get_type_hints

from . import library as _binding
from .library import Error, error_of
from .options import HELP, Options

if TYPE_CHECKING:
    from typing_extensions import Unpack

_TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "bool": "?", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4",
          "u32": "u4", "i64": "i8", "u64": "u8", "bf16": "u2", "c64": "c8", "c128": "c16"}
_POLL_SECONDS = 0.05
_library = None
_lock = threading.Lock()


def _c():
    global _library
    with _lock:
        _library = _library or _binding.load()
    return _library


def version() -> str:
    """The version of the library."""
    return _c().taso_version().decode()


def _text_of(value) -> str:
    return str(value).lower() if isinstance(value, bool) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _texts_of(value) -> list[str]:
    """As they are given on the command line, each with the option's name before it; None: it is not given."""
    if isinstance(value, Mapping):
        return [f"{name}={','.join(_texts_of(sizes))}" for name, sizes in value.items()]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts_of(one)]
    return [] if value is None else [_text_of(value)]


def _refuse_unknown(name):
    if name in HELP:
        return
    similar = difflib.get_close_matches(name, HELP, 1)
    raise TypeError(f"there is no argument {name!r}" + (f"; did you mean {similar[0]!r}?" if similar else ""))


def _documented(function):
    """With the options of taso-opt as arguments, for help() and completion: all of them by name."""
    signature, types = inspect.signature(function), get_type_hints(Options)
    given = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[name])
            for name in HELP]
    function.__signature__ = signature.replace(parameters=[*given, *more])
    lines = (textwrap.fill(f"{name}: {text}", 100, initial_indent="    ", subsequent_indent="        ")
             for name, text in HELP.items())
    function.__doc__ += "\n    Options, those of taso-opt; None is what is standard:\n\n" + "\n".join(lines) + "\n"
    return function


class Report(dict):
    """What was done, as `taso-opt --json` writes it. It prints as `taso-opt` does, and is a page in a notebook."""

    text: str   # as taso-opt prints it
    html: str   # as taso-opt --html writes it: a page that needs nothing else

    def __init__(self, facts=(), text="", page=""):
        super().__init__(facts, text=text)
        self.text, self.html = text, page

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 60rem; border: 0"></iframe>'


class _Options:
    """The options of taso-opt by their names, `_` for `-`; lists and dictionaries are options given several times."""

    def __init__(self, values, progress=None):
        self.c, self.handle, self.is_ended = _c(), None, False
        self.handle = self.c.taso_options_new()
        self.callback = _binding.PROGRESS(lambda _: self.is_ended)
        self.progress = progress
        self.c.taso_options_set_progress(self.handle, self.callback, None)
        for name, value in values.items():
            _refuse_unknown(name)
            for text in _texts_of(value):
                self._set(name.replace("_", "-"), text)

    def _set(self, name, value):
        failure = _binding.Failure()
        if self.c.taso_options_set(self.handle, name.encode(), value.encode(), failure) != _binding.DONE:
            raise error_of(failure)

    def call(self, function, *arguments):
        """What the library's function gives, which runs on a thread of its own: this one hears signals meanwhile, and asks
        `progress`. Either ends it soon; what is raised here is raised when it has ended, or at once the second time."""
        results, is_done = [], threading.Event()
        self._ask()
        threading.Thread(target=self._run, args=(function, arguments, results, is_done), daemon=True).start()
        try:
            while not is_done.wait(_POLL_SECONDS):
                self._ask()
        except BaseException:
            self.is_ended = True
            is_done.wait()
            raise
        return results[0]

    def _ask(self):
        if self.progress and not self.is_ended:
            self.is_ended = self.progress() not in (None, True)

    def _run(self, function, arguments, results, is_done):   # of the object, which lives as long as the call
        try:
            results.append(function(*arguments))
        finally:
            is_done.set()

    def __del__(self):
        if self.handle:
            self.c.taso_options_free(self.handle)


def _runtime_here():
    """Models are timed by the Python that asks for it, where it has ONNX Runtime and nobody names another one."""
    has_runtime = importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("numpy")
    return {"python": sys.executable} if has_runtime and sys.executable and not os.environ.get("TASO_PYTHON") else {}


def _report_of(c, handle):
    if not handle:
        return Report()
    text, page = (f(handle).decode(errors="replace") for f in (c.taso_report_text, c.taso_report_html))
    return Report(json.loads(c.taso_report_json(handle).decode()), text, page)


def _serialized(model):
    """Of bytes and of onnx.ModelProto; None: a path."""
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"a model is a path, bytes, or an onnx.ModelProto, no {type(model).__name__}")
    if not os.path.exists(model):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(model))
    return None


@_documented
def optimize(model, output: Optional[os.PathLike | str] = None, *, progress: Optional[Callable[[], Any]] = None,
             **options: Unpack[Options]) -> tuple[Any, Report]:
    """A faster model that is equivalent, and the report: `(model, report)`.

    model     a path, the bytes of a model, or an onnx.ModelProto
    output    NAME.onnx or NAME.taso, when `model` is a path; None: nothing is written
    progress  called now and then without arguments; False: end soon, with the best so far
    options   those of taso-opt: threads=1, shape={"x": (1, 3, 224, 224)}, profile={"batch": [1, 8]}, total_time=60, ...

    Ctrl-C ends it as `progress` does, and is raised then; another one is raised at once.

    The result is what `model` was: the path `output`, bytes, or an onnx.ModelProto. The report is what taso-opt --json
    writes, as a dictionary; `report.text` is what it prints, `report.html` a page, which notebooks show. Error: the model
    is invalid, cannot be served, or failed the check. TypeError, ValueError: arguments that there are not, or that do not
    go together. FileNotFoundError: there is no such model.
    """
    data = _serialized(model)
    if data is not None and output is not None:
        raise ValueError("the result of a model in memory is in memory, too: output is for models that are files")
    given = _Options({**_runtime_here(), **options}, progress)
    c, failure, report, buffer = given.c, _binding.Failure(), ctypes.c_void_p(), _binding.Buffer()
    try:
        if data is None:
            path, to = os.fsencode(model), None if output is None else os.fsencode(output)
            status = given.call(c.taso_optimize_file, given.handle, path, to, ctypes.byref(report), failure)
        else:
            status = given.call(c.taso_optimize_buffer, given.handle, data, len(data), buffer, ctypes.byref(report), failure)
        told = _report_of(c, report)
        if status != _binding.DONE:
            raise error_of(failure, told)
        return (output if data is None else _as_given(model, ctypes.string_at(buffer.data, buffer.size))), told
    finally:
        c.taso_buffer_free(buffer)
        c.taso_report_free(report)


def _as_given(model, data):
    """Bytes for bytes, and an onnx.ModelProto for one."""
    return data if isinstance(model, (bytes, bytearray, memoryview)) else type(model).FromString(data)


class Verdict(NamedTuple):
    """What became of one rule or property; see `verify`."""

    name: str
    verdict: str      # "proved", "proved under conditions", "checked", "refuted", "undecided", ...
    is_proved: bool   # for all sizes, under the conditions in `text`
    reason: str       # a counterexample, a doubt, why conditions were needed; "" where none is
    text: str         # the rule with its conditions and certificate, where it is proved; else as it was given


def verify(text: str, *, progress: Optional[Callable[[], Any]] = None) -> list[Verdict]:
    """Judges substitution rules or properties of operators, for all sizes, from the operators' definitions.

    text      (rule ...) as in .rules files, or (property ...) as in .properties files; not both
    progress  called now and then without arguments; False: end after the rule at hand, and leave out the rest

    Error: the text cannot be read; then nothing was judged.

    >>> verify("(rule twice (source (relu (relu ?x))) (target (relu ?x)))")[0].verdict
    'proved'
    """
    if not isinstance(text, str):
        raise TypeError(f"rules and properties are a str, no {type(text).__name__}")
    given, failure, verdicts = _Options({}, progress), _binding.Failure(), ctypes.c_void_p()
    c = given.c
    judge = c.taso_verify_properties if "(property" in text else c.taso_verify_rules
    try:
        status = given.call(judge, given.handle, text.encode(), ctypes.byref(verdicts), failure)
        if status != _binding.DONE:
            raise error_of(failure)
        return [_verdict(c.taso_verdicts_get(verdicts, i)) for i in range(c.taso_verdicts_count(verdicts))]
    finally:
        c.taso_verdicts_free(verdicts)


def _verdict(said):
    return Verdict(said.name.decode(), said.verdict.decode(), bool(said.is_proved), said.reason.decode(), said.text.decode())


class Session:
    """A model, ONNX or compiled (.taso), on this processor. `session.run({"x": array})` gives its outputs as a dictionary of arrays.

    Inputs are read where they lie when they are contiguous arrays of the right type, or anything with `__dlpack__` or
    `__array__` that numpy takes without a copy. One session serves one thread at a time.
    """

    inputs: list[tuple]    # (name, numpy dtype, shape) of each
    outputs: list[tuple]

    @_documented
    def __init__(self, model, **options: Unpack[Options]) -> None:
        """`shape` gives sizes to symbolic dimensions: shape={"batch": 8}."""
        import numpy
        self._handle, data = None, _serialized(model)
        given, failure = _Options(options), _binding.Failure()
        self._numpy, self._c = numpy, given.c
        if data is None:
            self._handle = self._c.taso_session_open_file(given.handle, os.fsencode(model), failure)
        else:
            self._handle = self._c.taso_session_open_buffer(given.handle, data, len(data), failure)
        if not self._handle:
            raise error_of(failure)
        c, handle = self._c, self._handle
        self.inputs = [self._described(c.taso_session_input(handle, i)) for i in range(c.taso_session_input_count(handle))]
        self.outputs = [self._described(c.taso_session_output(handle, i))
                        for i in range(c.taso_session_output_count(handle))]

    def _described(self, tensor):
        """(name, numpy dtype, shape)"""
        return tensor.name.decode(), self._numpy.dtype(_TYPES[tensor.dtype.decode()]), tuple(tensor.dims[:tensor.rank])

    def _array(self, given, name, dtype, shape):
        numpy = self._numpy
        if hasattr(given, "__dlpack__") and not isinstance(given, numpy.ndarray):
            given = numpy.from_dlpack(given)
        array = numpy.asarray(given)
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"input {name} is {array.dtype}{list(array.shape)}, not {dtype}{list(shape)}")
        return numpy.ascontiguousarray(array).reshape(shape)

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs by their names, for all inputs by theirs."""
        if not self._handle:
            raise ValueError("the session is closed")
        if not isinstance(inputs, Mapping):
            raise TypeError(f"inputs are a dictionary of arrays by their names, no {type(inputs).__name__}")
        missing = [name for name, _, _ in self.inputs if name not in inputs]
        unknown = [name for name in inputs if name not in {known for known, _, _ in self.inputs}]
        if missing or unknown:
            raise ValueError("; ".join([f"input {name} is missing" for name in missing] +
                                       [f"the model has no input {name}" for name in unknown]))
        arrays = [self._array(inputs[name], name, dtype, shape) for name, dtype, shape in self.inputs]
        results = [self._numpy.empty(shape, dtype) for _, dtype, shape in self.outputs]
        failure = _binding.Failure()
        status = self._c.taso_session_run(self._handle, self._pointers(arrays), self._pointers(results), failure)
        if status != _binding.DONE:
            raise error_of(failure)
        return {name: result for (name, _, _), result in zip(self.outputs, results)}

    @staticmethod
    def _pointers(arrays):
        return (ctypes.c_void_p * max(1, len(arrays)))(*[array.ctypes.data for array in arrays])

    def close(self) -> None:
        """Frees the model; the session is of no use afterwards."""
        if self._handle:
            self._c.taso_session_close(self._handle)
            self._handle = None

    def __repr__(self) -> str:
        def told(tensors):
            return ", ".join(f"{name}: {dtype}{list(shape)}" for name, dtype, shape in tensors)
        return f"<taso.Session ({told(self.inputs)}) -> ({told(self.outputs)})>"

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()
