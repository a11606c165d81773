"""Searches small benchmark models at many random prices: no search may change a value.
`search_models.py ROOT PROGRAM [--few]`, where PROGRAM is built from search_models.c; with --few at a third of the prices."""
import pathlib
import subprocess
import sys
import tempfile

ROOT, PROGRAM = pathlib.Path(sys.argv[1]), sys.argv[2]
SHARE = 3 if "--few" in sys.argv else 1
# Models and how many prices: repeated blocks, where what was found in one is used in others, get the most.
RUNS = [(["bert", "bert-taso", "bert-taso-corrected"], 60), (["nasrnn", "squeezenet"], 15), (["nasnet-a", "resnet50"], 5)]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for models, n_prices in RUNS:
            subprocess.run([ROOT / "scripts/build-models", "--small", "--out", folder, *models], check=True)
            files = [folder / f"{model}-small.onnx" for model in models]
            done = subprocess.run([PROGRAM, ROOT / "substitutions/taso.rules", "0", str(-(-n_prices // SHARE)), *files], check=False)
            if done.returncode:
                sys.exit(f"{' '.join(models)}: exit code {done.returncode}")


if __name__ == "__main__":
    main()
