"""What tests of taso-verify share: runs of it, and files of rules as texts by name."""
import contextlib
import pathlib
import re
import subprocess
import tempfile


def run(*command, codes=(0, 1), **more):
    """0: all is proved, 1: something is not."""
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **more)
    assert ran.returncode in codes, f"{command}: {ran.returncode}: {ran.stderr}"
    return ran


def texts_in(text, kind="rule"):
    """Of each rule or property the text, by name."""
    parts = re.split(rf"^(?=\({kind} )", text, flags=re.MULTILINE)[1:]
    return {re.match(rf"\({kind} (\S+)", part)[1]: part for part in parts}


def texts_of(path, kind="rule"):
    return texts_in(pathlib.Path(path).read_text(encoding="utf-8"), kind)


@contextlib.contextmanager
def file_of(texts, name="some.rules"):
    """With other files in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text("".join(texts), encoding="utf-8")
        yield path


def proved(program, texts, *options):
    """The names of those that come out as proved, what is written of them, and what is said of all."""
    with file_of(texts) as path:
        out = path.with_name("proved.rules")
        said = run(program, "rules", path, "-o", out, *options).stdout
        written, rejected = texts_of(out), texts_of(f"{out}.rejected")
    assert written.keys() | rejected.keys() == texts_in("".join(texts)).keys(), "a rule is lost"
    return written, said
