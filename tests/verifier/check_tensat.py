#!/usr/bin/env python3
"""scripts/tensat-rules on rules of every form: `check_tensat.py TASO-VERIFY TENSAT-RULES`.

What it writes is read and judged as the rules deserve; a line that cannot be read is named.
"""
import pathlib
import subprocess
import sys
import tempfile

FILES = {
    "converted.txt": """(matmul 0 (matmul 0 ?input_1 ?input_4) ?input_5)=>(matmul 0 ?input_1 (matmul 0 ?input_4 ?input_5))
(concat 1 2 (relu ?input_1) (relu ?input_2))=>(relu (concat 1 2 ?input_1 ?input_2))
(concat 1 4 (conv2d 1 1 0 0 ?input_7 ?input_10) (conv2d 1 1 0 0 ?input_7 ?input_11))=>(conv2d 1 1 0 0 ?input_7 (concat 0 4 ?input_10 ?input_11))
(ewadd ?input_1 (ewmul ?input_2 ?input_2))=>(ewmul ?input_2 (ewadd ?input_1 ?input_2))
""",
    "converted_multi.txt": """(matmul 0 ?input_1 ?input_4)=>(split_0 (split 1 (matmul 0 ?input_1 (concat 1 2 ?input_4 ?input_5))))
(matmul 0 ?input_1 ?input_5)=>(split_1 (split 1 (matmul 0 ?input_1 (concat 1 2 ?input_4 ?input_5))))
""",
    "predefined_single.txt": "(conv2d 2 2 0 2 ?input_1 ?input_2)=>(conv2d 2 2 0 2 ?input_1 (merge ?input_2 2))\n",
    "predefined_multi.txt": "",
}
VERDICTS = {
    "tensat-converted-0": "proved with symbols for sizes",
    "tensat-converted-1": "proved with symbols for sizes",
    "tensat-converted-2": "proved under conditions (= (dim ?x10 1) (dim ?x7 1)) with symbols for sizes",
    "tensat-converted-3": "refuted",
    "tensat-converted-multi-0": "proved with symbols for sizes",
    "tensat-predefined-single-0": "checked",
}


def convert(script, folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, script, str(folder)], capture_output=True, text=True, check=False)


def main():
    program, script = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        converted = convert(script, folder, FILES)
        assert converted.returncode == 0, converted.stderr
        (folder / "tensat.rules").write_text(converted.stdout, encoding="utf-8")
        command = [program, "rules", "--no-z3", str(folder / "tensat.rules")]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        judged = ran.stdout
        assert ran.returncode == 1, f"rules are refuted, and the exit code is {ran.returncode}: {ran.stderr}"
        found = dict(line.split(": ", 1) for line in judged.splitlines() if line.startswith("tensat-"))
        assert found == VERDICTS, judged
        for line, reason in (
            ("(gather ?input_1)=>?input_1", "gather has no counterpart"),
            ("(relu ?input_1=>?input_1", "not closed"),
            ("(relu ?input_1)", "1:"),
        ):
            refused = convert(script, folder, FILES | {"converted.txt": line + "\n"})
            assert refused.returncode == 1 and "converted.txt:1" in refused.stderr, refused.stderr
            assert reason in refused.stderr and refused.stdout == "", refused.stderr


main()
