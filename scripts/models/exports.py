"""Exports ten models as users of torch do, with random weights: convolution, attention, recurrence and quantization, of
fixed sizes or with symbols for batch, sequence, height and width. It needs torch, torchvision and transformers, and
onnxscript for what the newer exporter makes ($TASO_PYTHON). Others, when they are named: nine small models of transformers,
each exported in four ways (t5-fix, t5-dyn, t5-new, t5-ndyn, ...)."""

import argparse
import importlib.util
import pathlib
import sys
import warnings

from models import transformer_exports

PACKAGES = ["torch", "torchvision", "transformers", "onnxscript"]
IMAGE, TEXT = {0: "batch", 2: "height", 3: "width"}, {0: "batch", 1: "sequence"}
EXPORTS = ["bert", "convnext-tiny", "gpt2", "lstm", "mobilenetv2", "resnet18-qdq", "resnet50", "squeezenet", "unet", "vit"]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="export-models", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", metavar="NAME", nargs="*", default=EXPORTS, help="models (default: %(default)s)")
    parser.add_argument("--out", metavar="FOLDER", type=pathlib.Path, default=pathlib.Path("exports"),
                        help="where they are written (default: %(default)s)")
    options = parser.parse_args()
    for name in options.names:
        if name not in EXPORTS + transformer_exports.NAMES:
            parser.error(f"no export is called '{name}', only {', '.join(EXPORTS + transformer_exports.NAMES)}")
    missing = [package for package in PACKAGES if not importlib.util.find_spec(package)]
    if missing:
        parser.error(f"{sys.executable} has no {', '.join(missing)}: name one that has by TASO_PYTHON")
    return options


def classes():
    """What torchvision and transformers have no class for."""
    import torch
    from torch import nn

    class FirstOutput(nn.Module):
        def __init__(self, model, **options):
            super().__init__()
            self.model, self.options = model, options

        def forward(self, ids, mask):
            return self.model(input_ids=ids, attention_mask=mask, **self.options)[0]

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.output = nn.Embedding(1000, 256), nn.Linear(512, 20)
            self.lstm = nn.LSTM(256, 256, num_layers=2, bidirectional=True, batch_first=True)

        def forward(self, ids):
            return self.output(self.lstm(self.embedding(ids))[0]).log_softmax(-1)

    def twice(n_in, n_out):
        return nn.Sequential(*(layer for i in (n_in, n_out)
                               for layer in (nn.Conv2d(i, n_out, 3, padding=1), nn.BatchNorm2d(n_out), nn.ReLU())))

    class UNet(nn.Module):
        def __init__(self, width=32, depth=4):
            super().__init__()
            widths = [width << i for i in range(depth + 1)]
            self.first, self.last = twice(3, width), nn.Conv2d(width, 2, 1)
            self.down = nn.ModuleList(map(twice, widths, widths[1:]))
            self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in widths[-2::-1])
            self.joined = nn.ModuleList(twice(2 * w, w) for w in widths[-2::-1])

        def forward(self, x):
            kept = [self.first(x)]
            for down in self.down:
                kept.append(down(nn.functional.max_pool2d(kept[-1], 2)))
            x = kept.pop()
            for up, joined in zip(self.up, self.joined):
                x = joined(torch.cat([kept.pop(), up(x)], 1))
            return self.last(x)

    class Quantized(nn.Module):
        """A layer between roundings to 8 bits, which are exported as QuantizeLinear and DequantizeLinear."""

        def __init__(self, layer):
            super().__init__()
            self.layer = layer
            layer.weight.data = self.rounded(layer.weight.data, float(layer.weight.abs().max()) / 127)

        @staticmethod
        def rounded(x, scale):
            return torch.fake_quantize_per_tensor_affine(x, scale, 0, -128, 127)

        def forward(self, x):
            return self.layer(self.rounded(x, 0.05))

    return FirstOutput, Tagger, UNet, Quantized


def quantized(model, wrapper, kinds):
    for name, part in list(model.named_children()):
        if isinstance(part, kinds):
            setattr(model, name, wrapper(part))
        else:
            quantized(part, wrapper, kinds)
    return model


def models():
    """By name: what makes it, its inputs by name, and what is symbolic of each of them."""
    import torch
    import torchvision.models as vision
    import transformers
    first_output, tagger, unet, wrapper = classes()
    image, ids = {"image": torch.randn(2, 3, 224, 224)}, {"ids": torch.randint(0, 1000, (2, 32))}
    words = {**ids, "mask": torch.ones(2, 32, dtype=torch.int64)}
    bert = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536,
                                   attn_implementation="eager")
    gpt2 = transformers.GPT2Config(n_embd=384, n_layer=6, n_head=6, attn_implementation="eager")
    conv = (torch.nn.Conv2d, torch.nn.Linear)
    return {
        "bert": (lambda: first_output(transformers.BertModel(bert)), words, TEXT),
        "convnext-tiny": (vision.convnext_tiny, {"image": image["image"][:1]}, {}),
        "gpt2": (lambda: first_output(transformers.GPT2LMHeadModel(gpt2), use_cache=False), words, TEXT),
        "lstm": (tagger, ids, TEXT),
        "mobilenetv2": (vision.mobilenet_v2, {"image": image["image"][:1]}, {}),
        "resnet18-qdq": (lambda: quantized(vision.resnet18(), wrapper, conv), {"image": image["image"][:1]}, {}),
        "resnet50": (vision.resnet50, image, IMAGE),
        "squeezenet": (vision.squeezenet1_1, image, IMAGE),
        "unet": (unet, image, IMAGE),
        "vit": (vision.vit_b_32, image, {0: "batch"}),
    }


def export(make, inputs, symbols, path):
    import torch
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)   # one operator, which ONNX has not
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(make().eval(), tuple(inputs.values()), path, input_names=list(inputs), output_names=["result"],
                          dynamo=False, opset_version=17, dynamic_axes={name: symbols for name in inputs if symbols})


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    known = models()
    for name in options.names:
        if name in EXPORTS:
            export(*known[name], options.out / f"{name}.onnx")
        else:
            transformer_exports.export_by_name(name, options.out / f"{name}.onnx")
        print(options.out / f"{name}.onnx", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
