"""docs/manual/options.md is what the programs print with --help, python/taso/options.py has the options of taso-opt, and
no page names an option that none has:
`options_page.py SOURCE PROGRAM... [--write]`."""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
PROGRAMS = [pathlib.Path(argument) for argument in sys.argv[2:] if argument != "--write"]
PAGE = SOURCE / "docs/manual/options.md"
HEAD = """# Options

Written by `ninja -C build options-page` from what the programs print with `--help`; a test compares. An option that would
have no effect beside the others (`--tf32` without `--device cuda`, `--budget` with `--search saturation`, `--threads` with
`--device fake`) is refused, with exit code 2.
"""
OPTION, COMMAND = re.compile(r"^ {2,6}(?:-\w, )?--\S"), re.compile(r"^ {2}(\w+) {2,}\S", re.MULTILINE)
EXTRACT = {"taso-opt": ["extract"]}   # commands beside what the program does without one
# Of meson, pip, pkg-config, onnx2trt and valgrind; of GNU parallel and Slurm.
FOREIGN = set("""buildtype cflags compile libs no-deps prefix tool
    basefile joblog resume-failed sshlogin workdir array parsable cpus-per-task dependency wrap""".split())
PAGES = [*sorted((SOURCE / "docs").glob("*/*.md")), SOURCE / "README.md", SOURCE / "CONTRIBUTING.md"]


def help_of(*command):
    ran = subprocess.run([*map(str, command), "--help"], capture_output=True, text=True, check=True,
                         env=dict(os.environ, HOME="/root", XDG_CACHE_HOME="/root/.cache"))
    return ran.stdout


def commands_of(program):
    text = help_of(program)
    listed = COMMAND.findall(text) if text.startswith(f"Usage: {program.name} COMMAND") else None
    return [[program, name] for name in listed] if listed else \
        [[program], *([program, name] for name in EXTRACT.get(program.name, []))]


def options_of(text):
    """Each option with its text on one line; where this build keeps its files is left out."""
    found = []
    for line in text.splitlines():
        if OPTION.match(line):
            found.append(re.sub(r" {2,}", ": ", line.strip(), count=1))
        elif found and line.startswith(" " * 24):
            found[-1] += (" " if re.search(r": ", found[-1]) else ": ") + line.strip()
        elif line.startswith(("Examples:", "Exit codes")):
            break
    return [option.replace(f"{SOURCE}/", "") for option in found]


def section_of(command):
    text = help_of(*command)
    name = " ".join([command[0].name, *command[1:]])
    lines = text.split("\n\n")
    about = " ".join(lines[1].split())
    options = "".join("- `{}`: {}\n".format(*option.split(": ", 1)) for option in options_of(text)
                      if not re.search(r"--(help|version)\b", option))
    return f"\n## {name}\n\n{about}\n\n{options}"


def python_file():
    """Of taso-opt, which stands first."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as made:
        subprocess.run([sys.executable, SOURCE / "scripts/program-pages", PROGRAMS[0], "python", made.name], check=True,
                       env=dict(os.environ, HOME="/root", XDG_CACHE_HOME="/root/.cache"))
        return made.read()


def page():
    commands = [command for program in PROGRAMS for command in commands_of(program)]
    return HEAD + "".join(section_of(command) for command in commands)


def known_options(text):
    scripts = "".join(p.read_text(encoding="utf-8", errors="ignore") for p in (SOURCE / "scripts").rglob("*") if p.is_file())
    scripts += "".join(p.read_text(encoding="utf-8") for p in (SOURCE / "tests").rglob("*.py"))
    names = set(re.findall(r"^- `(?:-\w, )?--(?:\[no-\])?([\w-]+)", text, re.MULTILINE)) | {"help", "version"}
    return names | {f"no-{name}" for name in names} | FOREIGN | set(re.findall(r"--([a-z][\w-]*)", scripts))


def complaints_about_pages(text):
    known = known_options(text)
    for path in PAGES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"(?<![\w-])--([a-z][\w-]*)", line):
                if name not in known:
                    yield f"{path.relative_to(SOURCE)}:{number}: no program has --{name}"


def main():
    text = page()
    files = {PAGE: text, SOURCE / "python/taso/options.py": python_file()}
    if "--write" in sys.argv:
        for path, wanted in files.items():
            path.write_text(wanted, encoding="utf-8")
        return 0
    complaints = [*complaints_about_pages(text)]
    for path, wanted in files.items():
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        complaints += difflib.unified_diff(written.splitlines(), wanted.splitlines(), str(path), "--help", lineterm="")
    print("\n".join(complaints) or f"{PAGE} is up to date, and {len(PAGES)} pages name options that there are")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
