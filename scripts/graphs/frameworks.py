"""What a framework can do, for each: values are its own arrays (for ONNX Runtime: names of a model that is being made).

A framework is made with the element type that graphs compute in ("f32", "f16") and whether TF32 is allowed. `leaf`
makes its value of a numpy array; `compiled` gives, for a function of values and its arguments, one that runs it and
waits until it is done; `to_numpy` gives a result back. Without PyTorch, JAX, ... the framework's class raises
ImportError, and Absent where it is there and cannot do what is asked (no GPU).
"""

import itertools
import math

import numpy as np


class Absent(Exception):
    """The framework cannot be used here."""


NUMPY_TYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "bool": np.bool_,
    "u8": np.uint8,
    "i8": np.int8,
}


def pooled_size(size, kernel, stride, pads, dilation):
    return tuple(
        (n + begin + end - d * (k - 1) - 1) // s + 1
        for n, k, s, (begin, end), d in zip(size, kernel, stride, pads, dilation)
    )


def range_of_slice(start, size, step):
    """For slices of Python: an end before the first entry is None."""
    end = start + size * step
    return slice(start, None if end < 0 else end, step)


class Framework:
    """What can be said in terms of other things."""

    name, numpy_type = "", np.float32

    def __init__(self, element_type, allows_tf32):
        self.element_type, self.allows_tf32 = element_type, allows_tf32
        self.numpy_type = NUMPY_TYPES[element_type]

    def shape(self, x):
        return tuple(x.shape)

    def with_number(self, function, x, number):
        raise NotImplementedError

    def silu(self, x):
        return self.binary("mul", x, self.unary("sigmoid", x))

    def gelu(self, x, is_tanh):
        if is_tanh:
            cube = self.with_number("mul", self.binary("mul", self.binary("mul", x, x), x), 0.044715)
            bend = self.unary("tanh", self.with_number("mul", self.binary("add", x, cube), math.sqrt(2 / math.pi)))
        else:
            bend = self.unary("erf", self.with_number("mul", x, math.sqrt(0.5)))
        return self.binary("mul", self.with_number("mul", x, 0.5), self.with_number("add", bend, 1.0))

    def layer_norm(self, x, scale, bias, axes, epsilon):
        centred = self.binary("sub", x, self.reduce("mean", x, axes, True))
        square = self.reduce("mean", self.binary("mul", centred, centred), axes, True)
        deviation = self.unary("sqrt", self.with_number("add", square, epsilon))
        value = self.binary("mul", self.binary("div", centred, deviation), scale)
        return self.binary("add", value, bias) if bias is not None else value


# --- modules of arrays -----------------------------------------------------------------------------------------------


class Arrays(Framework):
    """What numpy and its likenesses have in common; `xp` is the module."""

    xp = np
    names = {
        "add": "add",
        "mul": "multiply",
        "sub": "subtract",
        "div": "divide",
        "pow": "power",
        "max": "maximum",
        "min": "minimum",
    }

    def leaf(self, array, name=None):
        return self.xp.asarray(array)

    def to_numpy(self, x):
        return np.asarray(x)

    def erf(self, x):
        return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)

    def unary(self, name, x):
        xp = self.xp
        if name == "relu":
            return xp.maximum(x, 0)
        if name == "sigmoid":
            return (1 / (1 + xp.exp(-x))).astype(x.dtype)
        if name == "reciprocal":
            return 1 / x
        if name == "neg":
            return -x
        return self.erf(x) if name == "erf" else getattr(xp, name)(x)

    def binary(self, name, x, y):
        return getattr(self.xp, self.names[name])(x, y)

    def with_number(self, function, x, number):
        return self.binary(function, x, self.xp.asarray(number, x.dtype))

    def matmul(self, x, y):
        return self.xp.matmul(x, y)

    def windows(self, x, kernel, stride, pads, dilation, filler):
        """x with the places in a window as the last axis."""
        spatial = range(len(kernel))
        x = self.pad(x, ((0, 0), (0, 0), *pads), filler)
        size = pooled_size(x.shape[2:], kernel, stride, ((0, 0),) * len(kernel), dilation)
        parts = [
            x[
                (
                    slice(None),
                    slice(None),
                    *(
                        slice(at[i] * dilation[i], at[i] * dilation[i] + (size[i] - 1) * stride[i] + 1, stride[i])
                        for i in spatial
                    ),
                )
            ]
            for at in itertools.product(*(range(k) for k in kernel))
        ]
        return self.xp.stack(parts, -1)

    def conv(self, x, w, stride, pads, dilation, group):
        parts = self.windows(x, w.shape[2:], stride, pads, dilation, 0.0)
        n, channels, *size, taps = parts.shape
        parts = parts.reshape(n, group, channels // group, -1, taps)
        filters = w.reshape(group, w.shape[0] // group, w.shape[1], taps)
        return self.xp.einsum("ngcpt,gfct->ngfp", parts, filters, optimize=True).reshape(n, w.shape[0], *size)

    def max_pool(self, x, kernel, stride, pads, dilation):
        return self.windows(x, kernel, stride, pads, dilation, -np.inf).max(-1)

    def average_pool(self, x, kernel, stride, pads, is_counted):
        ones = (1,) * len(kernel)
        total = self.windows(x, kernel, stride, pads, ones, 0.0).sum(-1)
        if is_counted:
            return total / np.prod(kernel).astype(x.dtype)
        inside = self.xp.ones((1, 1, *x.shape[2:]), x.dtype)
        return total / self.windows(inside, kernel, stride, pads, ones, 0.0).sum(-1)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def broadcast(self, x, shape):
        return self.xp.broadcast_to(x, shape)

    def transpose(self, x, perm):
        return x.transpose(perm)

    def concat(self, xs, axis):
        return self.xp.concatenate(list(xs), axis)

    def slice(self, x, axis, start, size, step):
        return x[(slice(None),) * axis + (range_of_slice(start, size, step),)]

    def gather(self, x, indices, axis):
        return self.xp.take(x, indices % x.shape[axis], axis)

    def softmax(self, x, axis):
        powers = self.xp.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    def reduce(self, name, x, axes, keeps):
        return getattr(self.xp, name)(x, axis=axes, keepdims=keeps)

    def clip(self, x, low, high):
        return self.xp.clip(x, low, high).astype(x.dtype)

    def pad(self, x, pads, value):
        return self.xp.pad(x, pads, constant_values=value)

    def cast(self, x, kind):
        return x.astype(NUMPY_TYPES[kind])

    def where(self, condition, x, y):
        return self.xp.where(condition, x, y)


class Numpy(Arrays):
    """Slow, and the one that is always there."""

    name = "numpy"

    def version(self):
        return f"numpy {np.__version__}"

    def compiled(self, function, arguments):
        return lambda: function(*arguments)


class Jax(Arrays):
    """XLA, one program for the whole graph."""

    name = "jax"

    def __init__(self, element_type, allows_tf32, needs_gpu=True):
        super().__init__(element_type, allows_tf32)
        import jax
        import jax.numpy

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "tensorfloat32" if allows_tf32 else "highest")
        self.jax, self.xp = jax, jax.numpy
        if needs_gpu and jax.default_backend() != "gpu":
            raise Absent(f"JAX {jax.__version__} has no GPU here")

    def version(self):
        return f"JAX {self.jax.__version__}"

    def erf(self, x):
        return self.jax.lax.erf(x)

    def unary(self, name, x):
        return self.jax.nn.sigmoid(x) if name == "sigmoid" else super().unary(name, x)

    def conv(self, x, w, stride, pads, dilation, group):
        return self.jax.lax.conv_general_dilated(x, w, stride, pads, rhs_dilation=dilation, feature_group_count=group)

    def reduce_window(self, x, start, function, kernel, stride, pads, dilation):
        return self.jax.lax.reduce_window(
            x,
            x.dtype.type(start),
            function,
            (1, 1, *kernel),
            (1, 1, *stride),
            ((0, 0), (0, 0), *pads),
            window_dilation=(1, 1, *dilation),
        )

    def max_pool(self, x, kernel, stride, pads, dilation):
        return self.reduce_window(x, -np.inf, self.jax.lax.max, kernel, stride, pads, dilation)

    def average_pool(self, x, kernel, stride, pads, is_counted):
        rest = (kernel, stride, pads, (1,) * len(kernel))
        total = self.reduce_window(x, 0, self.jax.lax.add, *rest)
        if is_counted:
            return total / x.dtype.type(np.prod(kernel))
        return total / self.reduce_window(self.xp.ones((1, 1, *x.shape[2:]), x.dtype), 0, self.jax.lax.add, *rest)

    def compiled(self, function, arguments):
        program = self.jax.jit(function)
        return lambda: self.jax.block_until_ready(program(*arguments))


# --- PyTorch ---------------------------------------------------------------------------------------------------------


class Torch(Framework):
    """Eager. Images stand with their channels last where tensor cores work, as its users are told to do."""

    name = "torch"

    def __init__(self, element_type, allows_tf32, needs_gpu=True):
        super().__init__(element_type, allows_tf32)
        import torch

        self.torch, self.functional = torch, torch.nn.functional
        if needs_gpu and not torch.cuda.is_available():
            raise Absent(f"PyTorch {torch.__version__} has no GPU here")
        self.device = "cuda" if needs_gpu else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allows_tf32
        torch.backends.cudnn.benchmark = True
        self.wants_channels_last = needs_gpu and (allows_tf32 or element_type == "f16")

    def version(self):
        return f"PyTorch {self.torch.__version__}"

    def leaf(self, array, name=None):
        x = self.torch.from_numpy(np.array(array)).to(self.device)
        return x.contiguous(memory_format=self.torch.channels_last) if x.ndim == 4 and self.wants_channels_last else x

    def to_numpy(self, x):
        return x.detach().cpu().numpy()

    def unary(self, name, x):
        return getattr(self.torch, name)(x)

    def binary(self, name, x, y):
        names = {"div": "true_divide", "max": "maximum", "min": "minimum"}
        return getattr(self.torch, names.get(name, name))(x, y)

    def with_number(self, function, x, number):
        return self.binary(function, x, self.torch.tensor(number, dtype=x.dtype, device=x.device))

    def silu(self, x):
        return self.functional.silu(x)

    def gelu(self, x, is_tanh):
        return self.functional.gelu(x, approximate="tanh" if is_tanh else "none")

    def matmul(self, x, y):
        return self.torch.matmul(x, y)

    def padded_window(self, x, pads, filler):
        """Pads that are the same at both ends are the operator's own."""
        if all(begin == end for begin, end in pads):
            return x, tuple(begin for begin, _ in pads)
        return self.pad(x, ((0, 0), (0, 0), *pads), filler), (0,) * len(pads)

    def of_rank(self, name, x):
        return getattr(self.functional, f"{name}{x.ndim - 2}d")

    def conv(self, x, w, stride, pads, dilation, group):
        x, pads = self.padded_window(x, pads, 0.0)
        return self.of_rank("conv", x)(x, w, None, stride, pads, dilation, group)

    def max_pool(self, x, kernel, stride, pads, dilation):
        x, pads = self.padded_window(x, pads, -math.inf)
        return self.of_rank("max_pool", x)(x, kernel, stride, pads, dilation)

    def average_pool(self, x, kernel, stride, pads, is_counted):
        if all(begin == end for begin, end in pads):
            return self.of_rank("avg_pool", x)(x, kernel, stride, tuple(p for p, _ in pads), False, is_counted)
        ones, around = self.torch.ones_like(x[:1, :1]), ((0, 0), (0, 0), *pads)
        mean = self.of_rank("avg_pool", x)(self.pad(x, around, 0.0), kernel, stride)
        return mean if is_counted else mean / self.of_rank("avg_pool", x)(self.pad(ones, around, 0.0), kernel, stride)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def broadcast(self, x, shape):
        return x.expand(shape)

    def transpose(self, x, perm):
        return x.permute(perm)

    def concat(self, xs, axis):
        return self.torch.cat(list(xs), axis)

    def slice(self, x, axis, start, size, step):
        if step > 0:
            return x[(slice(None),) * axis + (range_of_slice(start, size, step),)]
        return self.torch.flip(self.slice(x, axis, start + (size - 1) * step, size, -step), (axis,))

    def gather(self, x, indices, axis):
        flat = self.torch.index_select(x, axis, self.torch.remainder(indices, x.shape[axis]).reshape(-1))
        return flat.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])

    def softmax(self, x, axis):
        return self.torch.softmax(x, axis)

    def reduce(self, name, x, axes, keeps):
        names = {"max": "amax", "min": "amin"}
        return getattr(self.torch, names.get(name, name))(x, axes, keepdim=keeps)

    def layer_norm(self, x, scale, bias, axes, epsilon):
        shape = tuple(x.shape[a] for a in axes)
        if axes != tuple(range(x.ndim - len(axes), x.ndim)) or tuple(scale.shape) != shape:
            return super().layer_norm(x, scale, bias, axes, epsilon)
        return self.functional.layer_norm(x, shape, scale, bias, epsilon)

    def clip(self, x, low, high):
        return self.torch.clamp(x, low, high)

    def pad(self, x, pads, value):
        flat = [size for pair in reversed(pads) for size in pair]
        return self.functional.pad(x, flat, value=value)

    def cast(self, x, kind):
        kinds = {"f16": "float16", "f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "bool": "bool"}
        return x.to(getattr(self.torch, kinds[kind]))

    def where(self, condition, x, y):
        return self.torch.where(condition, x, y)

    def prepared(self, function):
        return function

    def compiled(self, function, arguments):
        function = self.prepared(function)

        def run():
            with self.torch.no_grad():
                results = function(*arguments)
            if self.device == "cuda":
                self.torch.cuda.synchronize()
            return results

        return run


class CompiledTorch(Torch):
    """torch.compile, which tries kernels and captures graphs."""

    name = "torch-compiled"

    def prepared(self, function):
        if not hasattr(self.torch, "compile"):
            raise Absent(f"PyTorch {self.torch.__version__} has no torch.compile")
        return self.torch.compile(function, mode="max-autotune", dynamic=False)


# --- ONNX Runtime ----------------------------------------------------------------------------------------------------


class Named:
    """A value of the model that is being made."""

    def __init__(self, name, shape, kind):
        self.name, self.shape, self.kind = name, tuple(int(size) for size in shape), kind


class OnnxRuntime(Framework):
    """Makes a model of the graph and runs it, all its optimizations on, with inputs and outputs on the device."""

    name, provider = "onnxruntime", "CUDAExecutionProvider"
    names = {
        "neg": "Neg",
        "relu": "Relu",
        "sigmoid": "Sigmoid",
        "reciprocal": "Reciprocal",
        "add": "Add",
        "mul": "Mul",
        "sub": "Sub",
        "div": "Div",
        "pow": "Pow",
        "max": "Max",
        "min": "Min",
    }

    def __init__(self, element_type, allows_tf32, needs_gpu=True):
        super().__init__(element_type, allows_tf32)
        import onnx
        import onnxruntime

        self.onnx, self.runtime = onnx, onnxruntime
        self.provider = self.provider if needs_gpu else "CPUExecutionProvider"
        if self.provider not in onnxruntime.get_available_providers():
            raise Absent(f"ONNX Runtime {onnxruntime.__version__} has no CUDA provider here")
        self.nodes, self.weights, self.inputs = [], [], []

    def version(self):
        return f"ONNX Runtime {self.runtime.__version__}"

    def leaf(self, array, name=None):
        value = Named(name, array.shape, array.dtype)
        if name.startswith("input"):
            self.inputs.append((value, array))
        else:
            self.weights.append(self.onnx.numpy_helper.from_array(np.array(array, order="C"), name))
        return value

    def to_numpy(self, x):
        return x

    def add(self, kind, inputs, shape, element_type=None, **attributes):
        result = Named(f"v{len(self.nodes)}", shape, element_type or inputs[0].kind)
        self.nodes.append(
            self.onnx.helper.make_node(kind, [i.name if i else "" for i in inputs], [result.name], **attributes)
        )
        return result

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(self.onnx.numpy_helper.from_array(array, name))
        return Named(name, array.shape, array.dtype)

    def whole(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def unary(self, name, x):
        return self.add(self.names.get(name, name.capitalize()), [x], x.shape)

    def binary(self, name, x, y):
        return self.add(self.names[name], [x, y], np.broadcast_shapes(x.shape, y.shape))

    def with_number(self, function, x, number):
        return self.binary(function, x, self.constant(np.array(number, x.kind)))

    def matmul(self, x, y):
        return self.add("MatMul", [x, y], (*x.shape[:-1], y.shape[-1]))

    def window_attributes(self, kernel, stride, pads):
        return {
            "kernel_shape": list(kernel),
            "strides": list(stride),
            "pads": [p[0] for p in pads] + [p[1] for p in pads],
        }

    def conv(self, x, w, stride, pads, dilation, group):
        size = pooled_size(x.shape[2:], w.shape[2:], stride, pads, dilation)
        return self.add(
            "Conv",
            [x, w],
            (x.shape[0], w.shape[0], *size),
            group=group,
            dilations=list(dilation),
            **self.window_attributes(w.shape[2:], stride, pads),
        )

    def max_pool(self, x, kernel, stride, pads, dilation):
        size = pooled_size(x.shape[2:], kernel, stride, pads, dilation)
        return self.add(
            "MaxPool",
            [x],
            (*x.shape[:2], *size),
            dilations=list(dilation),
            **self.window_attributes(kernel, stride, pads),
        )

    def average_pool(self, x, kernel, stride, pads, is_counted):
        size = pooled_size(x.shape[2:], kernel, stride, pads, (1,) * len(kernel))
        return self.add(
            "AveragePool",
            [x],
            (*x.shape[:2], *size),
            count_include_pad=int(is_counted),
            **self.window_attributes(kernel, stride, pads),
        )

    def reshape(self, x, shape):
        return self.add("Reshape", [x, self.whole(*shape)], shape)

    def broadcast(self, x, shape):
        return self.add("Expand", [x, self.whole(*shape)], shape)

    def transpose(self, x, perm):
        return self.add("Transpose", [x], [x.shape[p] for p in perm], perm=list(perm))

    def concat(self, xs, axis):
        shape = list(xs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        return self.add("Concat", list(xs), shape, axis=axis)

    def slice(self, x, axis, start, size, step):
        end = start + size * step
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        return self.add(
            "Slice",
            [x, self.whole(start), self.whole(end if end >= 0 else -(2**62)), self.whole(axis), self.whole(step)],
            shape,
        )

    def gather(self, x, indices, axis):
        return self.add("Gather", [x, indices], (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), axis=axis)

    def softmax(self, x, axis):
        return self.add("Softmax", [x], x.shape, axis=axis)

    def reduce(self, name, x, axes, keeps):
        shape = [1 if i in axes else n for i, n in enumerate(x.shape) if keeps or i not in axes]
        return self.add(f"Reduce{name.capitalize()}", [x, self.whole(*axes)], shape, keepdims=int(keeps))

    def layer_norm(self, x, scale, bias, axes, epsilon):
        return self.add(
            "LayerNormalization", [x, scale] + ([bias] if bias else []), x.shape, axis=axes[0], epsilon=epsilon
        )

    def clip(self, x, low, high):
        bounds = [None if math.isinf(b) else self.constant(np.array(b, x.kind)) for b in (low, high)]
        return self.add("Clip", [x, *bounds], x.shape)

    def pad(self, x, pads, value):
        sizes = self.whole(*(p[0] for p in pads), *(p[1] for p in pads))
        shape = [n + sum(p) for n, p in zip(x.shape, pads)]
        return self.add("Pad", [x, sizes, self.constant(np.array(value, x.kind))], shape)

    def cast(self, x, kind):
        numpy_type = np.dtype(NUMPY_TYPES[kind])
        return self.add("Cast", [x], x.shape, numpy_type, to=self.onnx.helper.np_dtype_to_tensor_dtype(numpy_type))

    def where(self, condition, x, y):
        return self.add("Where", [condition, x, y], x.shape, x.kind)

    def model(self, outputs):
        helper = self.onnx.helper
        info = [
            [
                helper.make_tensor_value_info(v.name, helper.np_dtype_to_tensor_dtype(np.dtype(v.kind)), v.shape)
                for v in values
            ]
            for values in ([v for v, _ in self.inputs], outputs)
        ]
        graph = helper.make_graph(self.nodes, "graph", *info, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    def session(self, model):
        options = self.runtime.SessionOptions()
        options.log_severity_level = 3
        settings = {} if self.provider.startswith("CPU") else {"use_tf32": int(self.allows_tf32)}
        return self.runtime.InferenceSession(model.SerializeToString(), options, providers=[(self.provider, settings)])

    def compiled(self, function, arguments):
        outputs = function(*arguments)
        session, device = self.session(self.model(outputs)), "cpu" if self.provider.startswith("CPU") else "cuda"
        if self.provider not in session.get_providers():
            raise Absent(f"ONNX Runtime {self.runtime.__version__} could not start its CUDA provider")
        binding = session.io_binding()
        for value, array in self.inputs:
            binding.bind_ortvalue_input(value.name, self.runtime.OrtValue.ortvalue_from_numpy(array, device, 0))
        for value in outputs:
            binding.bind_output(value.name, device)

        def run():
            session.run_with_iobinding(binding)
            binding.synchronize_outputs()
            return binding.copy_outputs_to_cpu() if run.wants_outputs else None

        run.wants_outputs = False
        return run


FRAMEWORKS = {framework.name: framework for framework in (Numpy, Torch, CompiledTorch, Jax, OnnxRuntime)}
