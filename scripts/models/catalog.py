"""The models: name, opset, builder with its dimensions, and what the small variant changes of them (None: there is
no small variant)."""

import dataclasses
from collections.abc import Callable

from models import tensat
from models.bert import bert, taso_bert
from models.builder import GraphBuilder
from models.densenet import densenet
from models.einnet import csrnet, dcgan, fsrcnn, gcn, infogan
from models.gpt2 import gpt2
from models.inception import inception_v3
from models.llama import llama
from models.longformer import longformer
from models.mobilenet import efficientnet_b0, mobilenet_v2, mobilenet_v3
from models.nasnet import nasnet_a
from models.nasrnn import nasrnn
from models.resnet import basic_block, resnet, taso_resnet
from models.squeezenet import squeezenet
from models.unet import unet
from models.vgg import vgg19
from models.vit import vit


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    opset: int
    description: str
    builder: Callable
    full: dict
    small: dict | None

    def build(self, small=False, layers=None):
        """The ModelProto; `layers` overrides the number of layers of those models that have one."""
        dimensions = {**self.full, **(self.small if small else {})}
        if layers and "layers" in dimensions:
            dimensions["layers"] = layers
        graph = GraphBuilder(self.name, self.opset, self.description)
        self.builder(graph, **dimensions)
        return graph.model()


MODELS = {
    model.name: model
    for model in (
        Model(
            "resnet18", 13, "ResNet-18, 224x224", resnet,
            {"image": 224, "blocks": (2, 2, 2, 2), "planes": 64, "classes": 1000, "block_of": basic_block},
            {"image": 64, "blocks": (2, 1, 1, 1), "planes": 16, "classes": 100},
        ),
        Model(
            "resnet50", 13, "ResNet-50 v1.5, 224x224", resnet,
            {"image": 224, "blocks": (3, 4, 6, 3), "planes": 64, "classes": 1000},
            {"image": 64, "blocks": (2, 1, 1, 1), "planes": 16, "classes": 100},
        ),
        Model(
            "resnext50", 9, "ResNeXt-50 32x4d, 224x224", resnet,
            {"image": 224, "blocks": (3, 4, 6, 3), "planes": 64, "classes": 1000, "groups": 32, "width_per_group": 4},
            {"image": 64, "blocks": (2, 1, 1, 1), "planes": 32, "classes": 100, "groups": 8, "width_per_group": 8},
        ),
        Model(
            "inception-v3", 13, "Inception-v3, 299x299", inception_v3,
            {"image": 299, "divisor": 1, "classes": 1000},
            {"image": 139, "divisor": 4, "classes": 100},
        ),
        Model(
            "squeezenet", 11, "SqueezeNet 1.1, 224x224", squeezenet,
            {"image": 224, "divisor": 1, "classes": 1000},
            {"image": 64, "divisor": 2, "classes": 100},
        ),
        Model(
            "densenet121", 20, "DenseNet-121, 224x224", densenet,
            {"image": 224, "blocks": (6, 12, 24, 16), "growth": 32, "classes": 1000},
            {"image": 64, "blocks": (3, 4), "growth": 16, "classes": 100},
        ),
        Model(
            "vgg19", 11, "VGG-19, 224x224", vgg19,
            {"image": 224, "width": 64, "hidden": 4096, "classes": 1000},
            {"image": 64, "width": 16, "hidden": 256, "classes": 100},
        ),
        Model(
            "mobilenetv2", 13, "MobileNetV2, 224x224", mobilenet_v2,
            {"image": 224, "divisor": 1, "classes": 1000},
            {"image": 64, "divisor": 2, "classes": 100, "at_most_repeats": 2},
        ),
        Model(
            "mobilenetv3", 14, "MobileNetV3-Large, 224x224", mobilenet_v3,
            {"image": 224, "divisor": 1, "classes": 1000},
            {"image": 64, "divisor": 2, "classes": 100, "blocks": 8},
        ),
        Model(
            "unet", 13, "U-Net, 64 to 1024 channels, 256x256", unet,
            {"image": 256, "width": 64, "depth": 4, "classes": 2},
            {"image": 32, "width": 16, "depth": 2, "classes": 2},
        ),
        Model(
            "efficientnet-b0", 13, "EfficientNet-B0, 224x224", efficientnet_b0,
            {"image": 224, "divisor": 1, "classes": 1000},
            {"image": 64, "divisor": 2, "classes": 100, "at_most_repeats": 2},
        ),
        Model(
            "nasnet-a", 11, "NasNet-A as measured by TASO, 224x224", nasnet_a,
            {"image": 224, "filters": 128, "normal_cells": 5},
            {"image": 64, "filters": 16, "normal_cells": 2},
        ),
        Model(
            "nasrnn", 13, "NasRNN as measured by TASO and Tensat: 5 steps, hidden 512, batch 1", nasrnn,
            {"steps": 5, "hidden": 512},
            {"hidden": 64},
        ),
        Model(
            "bert", 13, "BERT base: 12 layers, sequence 128, hidden 768, 12 heads", bert,
            {"layers": 12, "length": 128, "width": 768, "heads": 12, "feed_forward": 3072},
            {"layers": 2, "length": 16, "width": 64, "heads": 4, "feed_forward": 256},
        ),
        Model(
            "vit", 17, "ViT-B/16, 224x224", vit,
            {"image": 224, "patch": 16, "layers": 12, "width": 768, "heads": 12, "feed_forward": 3072, "classes": 1000},
            {"image": 64, "layers": 2, "width": 64, "heads": 4, "feed_forward": 256, "classes": 100},
        ),
        Model(
            "gpt2", 14, "GPT-2, 12 layers, hidden 768, 12 heads; symbolic batch and sequence", gpt2,
            {"layers": 12, "length": 64, "width": 768, "heads": 12, "vocabulary": 50257, "positions": 1024},
            {"layers": 2, "length": 16, "width": 64, "heads": 4, "vocabulary": 1000, "positions": 64},
        ),
        Model(
            "llama", 18, "Llama-type: 12 layers, sequence 128, hidden 768, 12 query and 4 key heads, inner 2048", llama,
            {"layers": 12, "length": 128, "width": 768, "heads": 12, "key_heads": 4, "inner": 2048},
            {"layers": 2, "length": 16, "width": 64, "heads": 4, "key_heads": 2, "inner": 192},
        ),
        Model(
            "llama-block", 20, "one decoder block of Llama-3.2-1B's dimensions, sequence 128", llama,
            {"layers": 1, "length": 128, "width": 2048, "heads": 32, "key_heads": 8, "inner": 8192},
            {"length": 16, "width": 128, "heads": 8, "key_heads": 2, "inner": 512},
        ),
        Model(
            "resnet50-taso", 11, "ResNet-50 as measured by TASO: 64x56x56, no stem, batch norm, head", taso_resnet,
            {"input_shape": (64, 56, 56), "blocks": (3, 4, 6, 3), "filters": 64},
            {"input_shape": (16, 16, 16), "blocks": (2, 1, 1, 1), "filters": 16},
        ),
        Model(
            "resnext50-taso", 11, "ResNeXt-50 as measured by TASO and Tensat: no batch norm, no head", taso_resnet,
            {
                "input_shape": (3, 224, 224), "blocks": (3, 4, 6, 3), "filters": 128, "groups": 32, "expansion": 2,
                "stem": 64,
            },
            {"input_shape": (3, 64, 64), "blocks": (2, 1, 1, 1), "filters": 32, "groups": 8, "stem": 16},
        ),
        Model(
            "bert-taso", 13, "BERT as measured by TASO and Tensat: 64x1024, 8 layers, attention unused", taso_bert,
            {"layers": 8, "width": 1024, "heads": 16, "corrected": False},
            {"layers": 2, "width": 64, "heads": 4},
        ),
        Model(
            "bert-taso-corrected", 13, "bert-taso with scale, softmax and the projection of the attention", taso_bert,
            {"layers": 8, "width": 1024, "heads": 16, "corrected": True},
            {"layers": 2, "width": 64, "heads": 4},
        ),
        Model(
            "infogan", 13, "InfoGAN's generator of 32x32, batch 16", infogan, {"batch": 16, "codes": 228, "width": 64},
            {"batch": 2, "codes": 20, "width": 8},
        ),
        Model(
            "dcgan", 13, "DCGAN's generator of 64x64, batch 16", dcgan, {"batch": 16, "codes": 100, "width": 128},
            {"batch": 2, "codes": 20, "width": 8},
        ),
        Model(
            "fsrcnn", 13, "FSRCNN(56, 12, 4), 128x128 to 384x384", fsrcnn,
            {"image": 128, "features": 56, "shrunk": 12, "layers": 4, "scale": 3}, {"image": 16, "features": 16},
        ),
        Model(
            "csrnet", 13, "CSRNet, 112x112: VGG-16's first ten convolutions and six dilated ones", csrnet,
            {"image": 112, "width": 64}, {"image": 32, "width": 8},
        ),
        Model(
            "gcn", 13, "GCN on ResNet-50, 224x224: 21 classes, windows of 7x7", gcn,
            {"image": 224, "blocks": (3, 4, 6, 3), "planes": 64, "classes": 21, "size": 7},
            {"image": 64, "blocks": (1, 1, 1, 1), "planes": 8, "classes": 5},
        ),
        Model(
            "longformer", 13, "a layer of Longformer: 10,000 positions, 8 heads of 64, bands of 2,001 in steps of 4", longformer,
            {"length": 10000, "width": 512, "heads": 8, "block": 1000, "side": 1000, "dilation": 4},
            {"length": 64, "width": 32, "heads": 2, "block": 16, "side": 6, "dilation": 2},
        ),
        Model(
            "inception-v3-tensat", 11, "Inception-v3 as measured by Tensat, 299x299: no batch norm, no head",
            tensat.inception_v3, {}, None,
        ),
        Model(
            "squeezenet-tensat", 11, "SqueezeNet 1.1 as measured by Tensat, 224x224: no biases", tensat.squeezenet, {},
            None,
        ),
        Model(
            "vgg19-tensat", 11, "VGG-19 as measured by Tensat, 224x224: no biases, transposed weights", tensat.vgg19, {},
            None,
        ),
        Model(
            "mobilenetv2-tensat", 13, "MobileNetV2 as measured by Tensat, 224x224", tensat.mobilenet_v2, {}, None,
        ),
    )
}
