#!/usr/bin/env python3
"""Laws that are proved by hand hold far beyond what proofs try: `check_laws.py TASO-VERIFY LAWS.def [--few [N]]`.

Each law becomes a rule or a property, which `taso-verify try` runs at random: as models are, and at high ranks, long
axes and large attributes. None differs, and each has instances; with --few, a fifth of them, and of each Nth law alone.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

AS_MODELS = ("--instances", "40", "--attempts", "800", "--seed", "7")
FAR = ("--far", "--largest", "30", "--instances", "20", "--attempts", "150", "--steps", "60000", "--seed", "7")
FEW = {AS_MODELS: ["--instances", "8"], FAR: ["--instances", "4", "--attempts", "30"]}
STRING = r'"(?:[^"\\]|\\.)*"'


def read(path):
    """Number and text of each entry."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    entries = re.findall(rf"^LAW\(({STRING}),\s*((?:{STRING}\s*)+)\)", text, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^LAW\(", text, re.MULTILINE)) > 0, f"{path} is not read"
    return [(number.strip('"'), "".join(part[1:-1] for part in re.findall(STRING, of))) for number, of in entries]


def words(text):
    """The words and the terms of a text, in their order."""
    found, depth = [], 0
    for piece in re.findall(r"[()]|[^\s()]+", text):
        depth -= piece == ")"
        if depth == 0 and piece != ")":
            found.append(piece)
        else:
            found[-1] += piece if piece == ")" or found[-1].endswith("(") else f" {piece}"
        depth += piece == "("
    return found


def as_file(name, text):
    """`strong A = B where C defined D plain E` as a property, `weak A = B C = D where E` as a rule."""
    kind, *rest = words(text)
    parts = {"=": [], "where": [], "defined": [], "plain": []}
    while rest and rest[0] not in parts:
        parts["="].append((rest[0], rest[2]))
        rest = rest[3:]
    for word, term in zip(rest[::2], rest[1::2]):
        parts[word].append(term)
    if kind == "weak":
        where = "".join(f" {c}" for c in parts["where"])
        source, target = (" ".join(pair[side] for pair in parts["="]) for side in (0, 1))
        return f"(rule {name} (source {source}) (target {target})" + (f" (where{where}))" if where else ")")
    said = parts["where"] + [f"({word} {term})" for word in ("defined", "plain") for term in parts[word]]
    ((left, right),) = parts["="]
    return f"(property {name} (equal {left} {right})" + (f" (where {' '.join(said)}))" if said else ")")


def main():
    program, laws, *few = sys.argv[1:]
    each = int(few[1]) if few[1:] else 1
    texts = [as_file(number, text) for number, text in read(laws)][::each]
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / f"laws.{kind}" for kind in ("rules", "properties")]
        for file, head in zip(files, ("(rule ", "(property ")):
            file.write_text("\n".join(t for t in texts if t.startswith(head)) + "\n", encoding="utf-8")
        for options in (AS_MODELS, FAR):
            ran = subprocess.run([program, "try", *files, *options, *(FEW[options] if few else [])], capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stdout + ran.stderr
            instances = dict(re.findall(r"^(\S+): (\d+) instances?$", ran.stdout, re.MULTILINE))
            assert len(instances) == len(texts)
            print(ran.stdout.splitlines()[-1])
            if options is AS_MODELS:
                assert "0" not in instances.values(), [name for name, n in instances.items() if n == "0"]


if __name__ == "__main__":
    main()
