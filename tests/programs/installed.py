"""What `meson install` puts somewhere runs from there, and from wherever it is moved: `installed.py BUILD MESON...`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, MESON = sys.argv[1], sys.argv[2:]
SHARED = ["taso.rules", "egraph.rules", "derived.rules", "properties/conv.properties", "spaces/default.space", "python/taso/worker.py"]


def run(*command, code=0):
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False,
                         env=dict(os.environ, XDG_CACHE_HOME=str(command[0]) + ".cache"))
    assert ran.returncode == code, f"{command}: {ran}"
    return ran.stdout


def default_of(program, option, *command):
    """The path that --help says."""
    page = re.sub(r"\s+", " ", run(program, *command, "--help"))
    return pathlib.Path(re.search(rf"--{option} \S+ [^(]*\([^)]*default ([^)]*)\)", page)[1])


def check_pkg_config(build):
    """In a folder that is configured anew, as one that was before this was asked for does not have it."""
    root = pathlib.Path(__file__).parents[2]
    configured = subprocess.run([*MESON, "setup", str(build), str(root)], capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout
    described = (build / "meson-private/taso.pc").read_text(encoding="utf-8")
    assert described.startswith("prefix=${pcfiledir}/"), f"pkg-config does not find what was moved: {described}"


def check(prefix):
    programs = {p.name: p for p in (prefix / "bin").iterdir()}
    assert {"taso-opt", "taso-run", "taso-gen", "taso-verify"} <= programs.keys(), programs
    for name in SHARED:
        assert (prefix / "share/taso" / name).is_file(), f"{name} is not installed"
    for name in ("man/man1/taso-opt.1", "bash-completion/completions/taso-opt.bash", "zsh/site-functions/_taso-opt"):
        assert (prefix / "share" / name).is_file(), f"{name} is not installed"
    shared = prefix / "share/taso"
    assert not list(shared.rglob("__pycache__")), "what Python keeps beside a source is installed"
    assert default_of(programs["taso-opt"], "rules").resolve() == (shared / "taso.rules").resolve()
    for command in ("rules", "explain", "properties"):
        found = default_of(programs["taso-verify"], "properties", command)
        assert found.resolve() == (shared / "properties").resolve(), found
    rules = prefix / "r.rules"
    rules.write_text("(rule twice (source (relu (relu ?x))) (target (relu ?x)))\n", encoding="utf-8")
    run(programs["taso-verify"], "rules", rules)
    run(programs["taso-gen"], "--space", shared / "spaces/released.space", "--max-ops", "1", "-q", "-o",
        prefix / "c.rules")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    installed = subprocess.run([*MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir",
                                str(folder / "root")], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed.stderr
    prefix = next((folder / "root").rglob("bin")).parent
    check(prefix)
    shutil.move(prefix, folder / "elsewhere")
    check(folder / "elsewhere")
    check_pkg_config(folder / "anew")
