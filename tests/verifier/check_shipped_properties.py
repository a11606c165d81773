#!/usr/bin/env python3
"""All shipped properties are proved, or axioms: `check_shipped_properties.py TASO-VERIFY [--all] FILE...`.

None that is proved is an axiom, and docs/results/properties.md lists the axioms.

Without --all each second one is asked, but of those that another one stands for: these are the same but for the axis of ?w
that a number of filters is read of, or are of AS.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results/properties.md"
# Each takes as long as all of another file together.
AS = {
    "split1-of-conv-kernels-below": "split0-of-conv-kernels-above",
    "split0-of-conv-kernels-above-sum": "split0-of-conv-kernels-above",
    "split1-of-conv-kernels-below-sum": "split0-of-conv-kernels-above",
}


def equation_of(text):
    """What a property says, without its name and its comment."""
    return re.sub(r'^\(property \S+\s+(\(comment "[^"]*"\)\s*)?', "", text)


def is_told_by(name, text, texts):
    """Is it what another one says of the other axis, of a tensor of which nothing else is read?"""
    twin = texts.get(name.removesuffix("filters") + "channels")
    read = set(re.findall(r"\([^()]*\?w[^()]*\)", text))
    return (name.endswith("-of-filters") and twin and read <= {"(dim ?w 0)", "(rank ?w)"}
            and equation_of(text).replace("(dim ?w 0)", "(dim ?w 1)") == equation_of(twin))


def axiom_of(text):
    """The sentence why it is true; None: it is no axiom."""
    found = re.search(r'^  \(axiom "([^"]*)"\)', text, re.MULTILINE)
    return found and found[1]


def wrong_axioms(texts, said):
    """What is proved with a sentence beside it, and what the table of the documentation does not say."""
    proved = re.findall(r"^(\S+): proved", said, re.MULTILINE)
    table = sorted(f"| `{name}` | {axiom_of(text)} |" for name, text in texts.items() if axiom_of(text))
    listed = sorted(re.findall(r"^\| `\S+` \| [^`]*\|$", RESULTS.read_text(encoding="utf-8"), re.MULTILINE))
    return [f"{name} is proved, and an axiom" for name in proved if axiom_of(texts[name])] + (
        [] if table == listed else [f"{RESULTS} has other axioms than", *table])


def main():
    program, *files = [word for word in sys.argv[1:] if word != "--all"]
    texts = {}
    for file in files:
        pieces = re.split(r"^(?=\(property )", pathlib.Path(file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        texts |= {re.match(r"\(property (\S+)", piece)[1]: piece for piece in pieces}
    assert AS.keys() | set(AS.values()) <= texts.keys()
    left_out = {name for name, text in texts.items() if name in AS or is_told_by(name, text, texts)}
    left_out |= set([name for name in texts if name not in left_out][::2])
    left_out = set() if "--all" in sys.argv else left_out
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "shipped.properties"
        path.write_text("".join(text for name, text in texts.items() if name not in left_out), encoding="utf-8")
        ran = subprocess.run([program, "properties", "--all", path], check=False, capture_output=True, text=True)
    wrong = wrong_axioms(texts, ran.stdout)
    print(ran.stdout, ran.stderr, f"{len(texts) - len(left_out)} of {len(texts)}", *wrong, sep="\n")
    return 1 if wrong else ran.returncode


if __name__ == "__main__":
    sys.exit(main())
