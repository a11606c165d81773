"""What the lints share: the sources of a tree, layer by layer, and how complaints are told."""
import argparse
import pathlib

from lib.command import run_script

LAYERS = ["core", "expressions", "operators", "derivation", "graph", "substitutions", "properties", "instances", "egraph",
          "selection", "generator", "compare", "verifier",
          "backends", "tuning", "onnx", "optimizer", "programs", "library", "provider", "include"]
SUFFIXES = (".c", ".h", ".inc", ".def", ".cu", ".cuh")


def sources_of(root):
    """Path by name, in the order of names."""
    paths = (path for layer in LAYERS for path in (root / layer).rglob("*") if path.suffix in SUFFIXES)
    return {str(path.relative_to(root)): path for path in sorted(paths)}


def run_lint(document, complaints_about):
    """`complaints_about(root, texts)` gives lines to print, of the text of each source by its name."""
    def main():
        parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("root", type=pathlib.Path, metavar="ROOT")
        root = parser.parse_args().root
        texts = {name: path.read_text(encoding="utf-8") for name, path in sources_of(root).items()}
        if not texts:
            parser.error(f"{root} has no sources")
        complaints = list(complaints_about(root, texts))
        print("\n".join(complaints + [f"{len(texts)} files, {len(complaints)} complaints"]))
        return 1 if complaints else 0

    run_script(main)
