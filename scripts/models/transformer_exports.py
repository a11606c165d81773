"""Nine models of transformers for export-models, small, with random weights: NAME-fix and NAME-dyn by torch's older exporter,
with fixed sizes or with symbols, and NAME-new and NAME-ndyn the same by the newer one."""

WAYS = ["fix", "dyn", "new", "ndyn"]
TEXT, IMAGE, BATCH = {0: "batch", 1: "sequence"}, {0: "batch", 2: "height", 3: "width"}, {0: "batch"}
MODELS = {
    "dinov2": ("Dinov2Model", {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 3, "image_size": 224}),
    "t5": ("T5ForConditionalGeneration", {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 3, "num_heads": 4,
                                          "vocab_size": 1000}),
    "detr": ("DetrForObjectDetection", {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                                        "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
                                        "num_queries": 20, "use_timm_backbone": False, "use_pretrained_backbone": False,
                                        "backbone": None}),
    "segformer": ("SegformerForSemanticSegmentation", {"depths": [1] * 4, "hidden_sizes": [16, 32, 64, 128]}),
    "whisper": ("WhisperModel", {"d_model": 128, "encoder_layers": 3, "encoder_attention_heads": 4, "encoder_ffn_dim": 256,
                                 "decoder_layers": 1, "decoder_attention_heads": 4, "max_source_positions": 500}),
    "vitmae": ("ViTMAEForPreTraining", {"hidden_size": 192, "num_hidden_layers": 3, "num_attention_heads": 3,
                                        "intermediate_size": 384, "decoder_hidden_size": 128, "decoder_num_hidden_layers": 2,
                                        "decoder_num_attention_heads": 4, "decoder_intermediate_size": 256}),
    "cliptext": ("CLIPTextModelWithProjection", {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3,
                                                 "num_attention_heads": 4, "vocab_size": 1000, "projection_dim": 64,
                                                 "eos_token_id": 999, "bos_token_id": 998, "pad_token_id": 1}),
    "convnextv2": ("ConvNextV2ForImageClassification", {"hidden_sizes": [40, 80, 160, 320], "depths": [2, 2, 6, 2]}),
    "levit": ("LevitForImageClassification", {}),
}
NAMES = [f"{name}-{way}" for name in MODELS for way in WAYS]


def inputs_of(name):
    """By name: an example, and what is symbolic of it."""
    import torch
    ids, mask = torch.randint(0, 900, (2, 24)), torch.ones(2, 24, dtype=torch.int64)
    image = torch.randn(2, 3, 224, 224)
    return {
        "t5": {"input_ids": (ids, TEXT), "attention_mask": (mask, TEXT),
               "decoder_input_ids": (torch.randint(0, 900, (2, 9)), {0: "batch", 1: "target"})},
        "detr": {"pixel_values": (torch.randn(1, 3, 256, 320), {0: "batch", 2: "h", 3: "w"}),
                 "pixel_mask": (torch.ones(1, 256, 320, dtype=torch.int64), {0: "batch", 1: "h", 2: "w"})},
        "whisper": {"input_features": (torch.randn(2, 80, 1000), BATCH)},
        "vitmae": {"pixel_values": (image, BATCH), "noise": (torch.rand(2, 196), BATCH)},
        "cliptext": {"input_ids": (ids, TEXT), "attention_mask": (mask, TEXT)},
    }.get(name, {"pixel_values": (image, IMAGE if name in ("dinov2", "segformer") else BATCH)})


def made(name):
    """No parameter of it is one number repeated, as zeros of biases are until a model is trained."""
    import torch
    import transformers
    kind, options = MODELS[name]
    config = getattr(transformers, kind).config_class(**options)
    if name == "detr":
        config.backbone_config = transformers.ResNetConfig(
            depths=[1] * 4, hidden_sizes=[32, 64, 128, 256], embedding_size=32, layer_type="basic", out_features=["stage4"])
    model = getattr(transformers, kind)(config).eval()
    for parameter in model.parameters():
        first = parameter.flatten()[0]
        if bool((parameter == first).all()):
            parameter.data = torch.randn_like(parameter) * 0.05 + first
    return model.encoder if name == "whisper" else model


def wrapped(name, inputs):
    """Inputs by their places; of the outputs the first, and DETR's first two."""
    import torch

    class Outputs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = made(name)

        def forward(self, *values):
            options = {"use_cache": False} if name == "t5" else {}
            out = self.model(**dict(zip(inputs, values)), **options)
            return (out.logits, out.pred_boxes) if name == "detr" else out.logits if name == "vitmae" else out[0]

    return Outputs().eval()


def export_by_name(name, path):
    import torch
    model, _, way = name.rpartition("-")
    inputs = inputs_of(model)
    values = tuple(value for value, _ in inputs.values())
    torch.manual_seed(0)
    with torch.no_grad():
        if way in ("fix", "dyn"):
            axes = {key: symbols for key, (_, symbols) in inputs.items()} if way == "dyn" else None
            torch.onnx.export(wrapped(model, inputs), values, path, input_names=list(inputs), dynamo=False, opset_version=17,
                              dynamic_axes=axes)
            return
        shapes = (tuple(dict.fromkeys(symbols, torch.export.Dim.DYNAMIC) for _, symbols in inputs.values()),)
        torch.onnx.export(wrapped(model, inputs), values, path, input_names=list(inputs), dynamo=True, external_data=False,
                          dynamic_shapes=shapes if way == "ndyn" else None, verbose=False)
