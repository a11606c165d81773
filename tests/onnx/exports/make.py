"""Makes the models beside it: `make.py`, with torch 2.15, transformers 5.23 and onnxscript 0.7. Tests need none of these.

Exports with symbolic batch and sequence, as torch's two exporters write them, of random weights, but for the notes that
nodes have on where they come from.
"""
import pathlib
import sys

import onnx
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {0: "batch", 1: "sequence"}


class First(torch.nn.Module):
    """The first output of a model of transformers."""

    def __init__(self, model, **options):
        super().__init__()
        self.model, self.options = model, options

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask, **self.options)[0]


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.output = torch.nn.Embedding(50, 8), torch.nn.Linear(16, 5)
        self.lstm = torch.nn.LSTM(8, 8, bidirectional=True, batch_first=True)

    def forward(self, ids):
        return self.output(self.lstm(self.embedding(ids))[0]).log_softmax(-1)


def bert():
    return First(transformers.BertModel(transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=50,
        max_position_embeddings=100, attn_implementation="eager")))


def gpt2():
    return First(transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_embd=16, n_layer=1, n_head=2, vocab_size=50, n_positions=100, attn_implementation="eager")), use_cache=False)


def export(name, model, names, dynamo):
    torch.manual_seed(0)
    inputs = (torch.randint(0, 50, (2, 7)), torch.ones(2, 7, dtype=torch.int64))[:len(names)]
    sizes = {"dynamic_shapes": tuple(SIZES for _ in names)} if dynamo else {"dynamic_axes": {n: SIZES for n in names}}
    more = {"external_data": False} if dynamo else {}
    with torch.no_grad():
        torch.onnx.export(model().eval(), inputs, HERE / f"{name}.onnx", input_names=names, dynamo=dynamo,
                          opset_version=18 if dynamo else 17, **sizes, **more)
    drop_notes(HERE / f"{name}.onnx")


def drop_notes(path):
    model = onnx.load(path)
    for part in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output,
                 *model.graph.initializer]:
        del part.metadata_props[:]
        part.doc_string = ""
    onnx.save(model, path)


def main():
    for dynamo in (False, True):
        end = "_dynamo" if dynamo else ""
        export("bert" + end, bert, ["ids", "mask"], dynamo)
        export("gpt2" + end, gpt2, ["ids", "mask"], dynamo)
        export("tagger" + end, Tagger, ["ids"], dynamo)


if __name__ == "__main__":
    sys.exit(main())
