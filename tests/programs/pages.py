"""Man pages and completions: `pages.py PAGES PROGRAM...`, made by scripts/program-pages in that folder.

Every option that --help knows is in all three, sub-commands' as well; man finds nothing to complain of; bash and zsh
read what is for them, and bash completes with it.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PAGES = pathlib.Path(sys.argv[1])
PROGRAMS = [pathlib.Path(p) for p in sys.argv[2:]]
COMMANDS = {"taso-opt": ["extract"],
            "taso-verify": ["explain", "model", "properties", "rules", "select", "try"]}


def said(*command, **how):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **how)


def options_of(program, *command):
    page = said(program, *command, "--help").stdout
    return set(re.findall(r"(?m)^ +(?:-\w, )?--(?:\[no-\])?([\w-]+)", page))


class Pages(unittest.TestCase):
    def each(self):
        for program in PROGRAMS:
            options = set().union(options_of(program), *(options_of(program, c) for c in COMMANDS.get(program.name, [])))
            self.assertGreater(len(options), 10, program)
            yield program.name, options

    def test_every_option_is_there(self):
        for name, options in self.each():
            man = (PAGES / f"{name}.1").read_text(encoding="utf-8").replace("\\-", "-")
            for option in options:
                self.assertRegex(man, rf"--(\[no-\])?{option}\\fR", name)
                for page in (f"{name}.bash", f"_{name}"):
                    self.assertRegex((PAGES / page).read_text(encoding="utf-8"), rf"--{option}\b", page)
            self.assertIn(".SH EXAMPLES", man)
            for command in COMMANDS.get(name, []):
                self.assertIn(f".SH COMMAND {command.upper()}", man)

    def test_no_page_names_the_machine_that_made_it(self):
        for path in PAGES.glob("*"):
            if path.suffix in (".1", ".bash") or path.name.startswith("_taso"):
                self.assertNotIn(str(pathlib.Path(__file__).resolve().parents[2]), path.read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_man_pages_render(self):
        for name, _ in self.each():
            shown = said("groff", "-man", "-Tutf8", "-ww", PAGES / f"{name}.1")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), name)
            self.assertGreater(len(shown.stdout), 1000)

    def complete(self, name, *words):
        script = f"""source {PAGES / name}.bash; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
                     "_{name.replace('-', '_')}"; printf '%s\\n' "${{COMPREPLY[@]}}\""""
        done = said("bash", "-c", script, "bash", name, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes(self):
        self.assertEqual(self.complete("taso-opt", "--lay"), ["--layout"])
        self.assertIn("--no-measure", self.complete("taso-opt", "--no-m"))
        self.assertEqual(self.complete("taso-opt", "m.onnx", "--search", "sat"), ["saturation"])
        self.assertIn("--cheapest", self.complete("taso-opt", "extract", "--c"))
        self.assertIn("properties", self.complete("taso-verify", "prop"))
        self.assertIn(f"{PAGES}/_taso-opt", self.complete("taso-run", "--save", f"{PAGES}/_ta"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_its_pages(self):
        for name, _ in self.each():
            self.assertEqual(said("zsh", "-n", PAGES / f"_{name}").stderr, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
