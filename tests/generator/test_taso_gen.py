#!/usr/bin/env python3
"""taso-gen as a program: `test_taso_gen.py PROGRAM`. Equal bytes whatever the threads, memory and shards; resuming after a
kill; one line for every bad input; the protobuf export against a reader of its own."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
SPACE = """(family a
  (inputs 3 (f32 3 3))
  (operator (matmul _ _)) (operator (ewadd _ _)) (operator (relu _)) (operator (transpose :perm 1 0 _))
  (operator (concat 1 _ _)) (operator (split 1 _)))
(family b
  (max-ops 2)
  (inputs 2 (f32 1 2 5 4)) (inputs 2 (f32 2 2 3 3))
  (constant (iconv :shape 2 2 3 3))
  (operator (conv :pad 1 1 1 1 (_ _ 5 4) (_ _ 3 3))) (operator (ewadd _ _)) (operator (concat 0 _ _))
  (operator (poolmax :kernel 3 3 :pad 1 1 1 1 (_ _ 5 4))))
(family c
  (max-ops 2)
  (inputs 2 (f32 3 4)) (inputs 1 (f32))
  (operator (smul _ ())) (operator (ewmul (_ _) _)) (operator (sigmoid (_ _))) (operator (reducesum :axes 1 _)))
"""


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.space = self.dir / "test.space"
        self.space.write_text(SPACE)

    def run_gen(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def find(self, name, *arguments):
        path = self.dir / name
        self.run_gen("--space", self.space, "--max-ops", 3, "-q", "-o", path, *arguments)
        return path.read_bytes()

    def test_same_bytes_whatever_the_way(self):
        once = self.find("once.rules", "-j", 1)
        self.assertGreater(once.count(b"(rule "), 50)
        self.assertEqual(once, self.find("threads.rules", "-j", 3))
        self.assertEqual(once, self.find("memory.rules", "--memory", "4M"))
        for n in (2, 4):
            parts = [self.dir / f"{i}-of-{n}.part" for i in range(1, n + 1)]
            for i, part in enumerate(parts, 1):
                self.run_gen("--space", self.space, "--max-ops", 3, "-q", "--shard", f"{i}/{n}", "-o", part)
            merged = self.dir / f"merged-{n}.rules"
            self.run_gen("merge", "-q", *reversed(parts), "-o", merged)
            self.assertEqual(once, merged.read_bytes())
        done = self.run_gen("merge", "-q", parts[0], "-o", self.dir / "less.rules", code=3)
        self.assertIn("missing", done.stderr)
        self.assertFalse((self.dir / "less.rules").exists())

    FIVE_OPERATORS = ("(family a (inputs 2 (f32 3)) (operator (relu _)) (operator (ewadd (3) (3)))\n"
                      "  (operator (concat 0 (3) (3))) (operator (split 0 _)))")

    def test_three_processes_find_five_operators(self):
        """As on three machines: nobody waits for another, and one is killed and goes on from what it finished."""
        self.space.write_text(self.FIVE_OPERATORS)
        common = "--space", str(self.space), "--max-ops", "5", "-q", "-j", "1"
        self.run_gen(*common, "-o", self.dir / "once.rules")
        parts = [str(self.dir / f"{i}.part") for i in (1, 2, 3)]
        commands = [[PROGRAM, *common, "--shard", f"{i}/3", "--checkpoint", str(self.dir / f"kept{i}"), "-o", part]
                    for i, part in enumerate(parts, 1)]
        processes = [subprocess.Popen(command) for command in commands]
        processes[1].kill()
        processes[1].wait()
        processes[1] = subprocess.Popen(commands[1])
        self.assertEqual([process.wait() for process in processes], [0, 0, 0])
        self.run_gen("merge", "-q", *parts, "-o", self.dir / "merged.rules")
        once = (self.dir / "once.rules").read_text()
        self.assertEqual(once, (self.dir / "merged.rules").read_text())
        self.assertRegex(once, r"\(operators (5 \d|\d 5)\)")

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is not there")
    def test_gnu_parallel_goes_on_with_the_shard_that_failed(self):
        """The manual's commands; the second shard cannot be written at first."""
        self.space.write_text(self.FIVE_OPERATORS)
        parts, log = self.dir / "parts", self.dir / "five.log"
        (parts / "2.part").mkdir(parents=True)
        command = (f"seq 3 | parallel --joblog {log} --resume-failed -j 3 {PROGRAM} --space {self.space} --max-ops 5 "
                   f"--shard {{}}/3 -j 1 -q -o {parts}/{{}}.part")

        def run(failures):
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, failures, done.stderr)
            lines = map(str.split, log.read_text().splitlines()[1:])
            return sorted((line[0], line[6]) for line in lines)   # number and exit code

        self.assertEqual(run(1), [("1", "0"), ("2", "3"), ("3", "0")])
        (parts / "2.part").rmdir()
        before = {i: (parts / f"{i}.part").stat().st_mtime_ns for i in (1, 3)}
        self.assertEqual(run(0), [("1", "0"), ("2", "0"), ("2", "3"), ("3", "0")])
        self.assertEqual(before, {i: (parts / f"{i}.part").stat().st_mtime_ns for i in (1, 3)})
        self.run_gen("merge", "-q", *sorted(parts.iterdir()), "-o", self.dir / "merged.rules")
        self.run_gen("--space", self.space, "--max-ops", 5, "-q", "-j", 1, "-o", self.dir / "once.rules")
        self.assertEqual((self.dir / "once.rules").read_text(), (self.dir / "merged.rules").read_text())

    @unittest.skipIf("TASO_FEW" in os.environ, "a million terms, in what the others run, too")
    def test_all_operators_of_the_paper_in_one_space(self):
        """Up to three operators."""
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        self.run_gen("--space", root / "generator/whole.space", "--max-ops", 3, "-q", "-o", self.dir / "whole.rules",
                     "--counts", self.dir / "counts.md")
        self.assertIn("| whole | 500 | 19565 | 964674 | 0 | ", (self.dir / "counts.md").read_text())

    def test_says_early_that_memory_is_not_kept(self):
        arguments = ("--space", self.space, "--max-ops", 2, "-o", self.dir / "early.rules")
        said = self.run_gen(*arguments, "--memory", "1M").stderr
        self.assertLess(said.index("is not kept"), said.index("terms sorted into classes", said.index("sorted") + 1))
        self.assertEqual(said.count("is not kept"), 1)
        self.assertIn("was not kept", said)
        self.assertNotIn("kept", self.run_gen(*arguments, "--memory", "4G").stderr)

    def test_resumes_after_a_kill(self):
        once = self.find("once.rules")
        folder = self.dir / "checkpoint"
        for delay in (0.02, 0.05, 0.1, 0.2):
            process = subprocess.Popen(
                [PROGRAM, "--space", self.space, "--max-ops", "3", "-q", "--checkpoint", folder, "-o",
                 self.dir / "killed.rules"]
            )
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertEqual(once, self.find("resumed.rules", "--checkpoint", folder))
        self.assertTrue(list(folder.glob("*.part")))
        self.assertEqual(once, self.find("again.rules", "--checkpoint", folder))
        done = self.run_gen("--space", self.space, "--max-ops", 2, "-q", "--checkpoint", folder, "-o",
                            self.dir / "other.rules", code=3)
        self.assertIn("other options", done.stderr)

    def test_a_full_disk_loses_nothing_that_was_finished(self):
        once = self.find("once.rules")
        folder = self.dir / "checkpoint"

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        full = subprocess.run(
            [PROGRAM, "--space", self.space, "--max-ops", "3", "-q", "--checkpoint", folder, "-o", self.dir / "full.rules"],
            capture_output=True, text=True, check=False, preexec_fn=limit_files,
        )
        self.assertEqual(full.returncode, 3, full.stderr)
        self.assertEqual(full.stderr.count("\n"), 1, full.stderr)
        self.assertFalse((self.dir / "full.rules").exists())
        self.assertEqual([path for path in folder.iterdir() if path.suffix != ".part"], [])
        self.assertEqual(once, self.find("resumed.rules", "--checkpoint", folder))

    def test_minimal_set_and_new_operators(self):
        minimal = self.dir / "minimal.rules"
        whole = self.find("whole.rules", "--minimal", minimal)
        self.assertIn(b"derivable", whole)
        self.assertNotIn(b" derivable)", minimal.read_bytes())
        gelu = self.dir / "gelu.rules"
        self.run_gen("--with", "gelu,transpose,concat", "--max-ops", 3, "-q", "-o", gelu)
        self.assertIn("(gelu (transpose", gelu.read_text())
        self.assertNotIn("matmul", gelu.read_text().split("\n\n", 1)[1])

    def test_a_new_operator_is_combined_with_what_moves_entries(self):
        """The example of --help."""
        path = self.dir / "gelu.rules"
        done = self.run_gen("--with", "gelu,matmul", "--families", "matrix-concat", "--max-ops", 3, "-o", path)
        text = path.read_text()
        self.assertIn("(source (gelu (transpose :perm 1 0 ?x)))", text)
        self.assertIn("(source (concat $axis (gelu ?x) (gelu ?y)))\n  (target (gelu (concat $axis ?x ?y)))", text)
        self.assertIn("(matmul ", text)
        self.assertNotIn("(relu ", text)
        self.assertNotIn("no rule was found", done.stderr)

    def test_parts_have_the_sizes_of_what_was_joined(self):
        """Splits whose sizes follow from a concatenation are no example of sizes that could be any others."""
        path = self.dir / "parts.rules"
        self.run_gen("--with", "gelu", "--max-ops", 2, "-q", "-o", path)
        text = path.read_text()
        self.assertNotIn("(source (split0 $axis :sizes $sizes (concat $axis ?x ?y)))\n  (target ?x)\n  (proof", text)
        self.assertIn("(source (split0 $axis :sizes $sizes (concat $axis ?x ?y)))\n  (target ?x)\n"
                      "  (where (= $sizes (list (dim ?x $axis) (dim ?y $axis))))", text)

    def test_a_new_operator_without_rules_is_told(self):
        space = self.dir / "few.space"
        space.write_text("(family few (inputs 2 (f32 2 3)) (operator (ewadd _ _)))")
        done = self.run_gen("--space", space, "--with", "gelu,ewadd", "--max-ops", 2, "-o", self.dir / "few.rules")
        self.assertIn("gelu: no rule was found", done.stderr)

    def test_an_operator_that_is_named_often_is_one(self):
        rules = []
        for names in ("shrink", ",".join(["shrink"] * 200)):
            path = self.dir / f"{len(rules)}.rules"
            self.run_gen("--with", f"{names},transpose", "--families", "matrices", "--max-ops", 2, "-q", "-o", path)
            rules.append(path.read_text().split("\n\n", 1)[1])
        self.assertEqual(*rules)

    def test_operators_with_thresholds(self):
        """What is below -1/2 is not above 1/2: shrink is not the identity, and no true rule is lost behind that."""
        path = self.dir / "thresholds.rules"
        for name in ("shrink", "thresholdedrelu", "hardswish", "hardsigmoid"):
            self.run_gen("--with", f"{name},transpose,concat,ewadd", "--families", "matrix-concat,reductions",
                         "--max-ops", 3, "-q", "-o", path)
            text = path.read_text()
            for sides in (f"(source ({name} ?x))\n", f"(source ?x)\n  (target ({name}", f"({name} (ewadd ?x ?y))"):
                self.assertNotIn(sides, text)
            for sides in (f"(source ({name} (transpose :perm 1 0 ?x)))\n  (target (transpose :perm 1 0 ({name} ?x)))",
                          f"(source (concat $axis ({name} ?x) ({name} ?y)))\n  (target ({name} (concat $axis ?x ?y)))"):
                self.assertIn(sides, text)

    def test_rules_that_others_derive_are_read_backwards(self):
        """Of groups 2 and 4 halved one is derived in the other direction, and so is written in that one only."""
        path = self.dir / "groups.rules"
        self.run_gen("--families", "groups", "--max-ops", 2, "-q", "-o", path)
        self.assertIn(":group $group :act $act ?x ?y))\n  (target (conv :stride $stride :pad $pad :dilation $dilation "
                      ":group (/ $group 2) :act $act ?x (merge $group 2 ?y)))", path.read_text())
        written = [rule.split("\n  (where")[0] for rule in path.read_text().split("(rule ")[1:]]
        for rule in written:
            source, target = (set(re.findall(r"\?\w+", side)) for side in rule.split("\n  (target")[:2])
            self.assertLessEqual(target, source)

    def test_windows_share_their_image_and_parts_are_joined(self):
        """What was written once: pads that make up for windows, a tensor as its parts, vectors that are repeated."""
        path = self.dir / "joined.rules"
        families = "windows,windows-on-rows,parts,joined-vectors,joined-vectors-in-batches,joined-vectors-in-attention"
        self.run_gen("--families", families, "--max-ops", 4, "-q", "-o", path)
        text = path.read_text()
        for rule in (
            "(source (conv :stride $stride :pad $pad :act $act ?x ?y)\n          (conv :stride $stride :pad $pad2 :act $act "
            "?x ?z))\n  (target (split0 1 (conv :stride $stride :pad $pad2 :act $act ?x (concat 0 (enlarge :kernel (drop 2 "
            "(dims ?z)) ?y) ?z)))\n          (split1 1 (conv :stride $stride :pad $pad2 :act $act ?x (concat 0 (enlarge "
            ":kernel (drop 2 (dims ?z)) ?y) ?z))))\n  (where (= $pad (+ $pad2 (repeat 2 (/ (- (drop 2 (dims ?y)) (drop 2 "
            "(dims ?z))) 2)))))",
            "(source (concat $axis (split0 $axis :sizes $sizes ?x) (split1 $axis :sizes $sizes ?x)))\n  (target ?x)\n"
            "  (where (= (length $sizes) 2))",
            "(source (relu (split0 $axis :sizes $sizes ?x)))\n  (target (split0 $axis :sizes $sizes (relu ?x)))\n  (proof",
            "(source (concat $axis (broadcast :shape $shape ?x) (broadcast :shape $shape2 ?y)))",
            "(= $axis (- (length $shape2) 1)) (= (rank ?x) 1) (= (rank ?y) 1) (= (dims ?y) (at $shape2 $axis)))",
        ):
            self.assertIn(rule, text)

    def test_axes_are_exchanged_before_or_after_what_goes_entry_by_entry(self):
        """Of exchanges at several ranks one rule is made for all of them."""
        path = self.dir / "exchanged.rules"
        self.run_gen("--families", "matrices,exchanged-entries,exchanged-entries-in-batches", "--max-ops", 3, "-q", "-o", path)
        text = path.read_text()
        for name in ("ewadd", "ewmul"):
            self.assertIn(f"(source ({name} (transpose :perm $perm ?x) (transpose :perm $perm ?y)))\n"
                          f"  (target (transpose :perm $perm ({name} ?y ?x)))", text)
        self.assertIn("(source (relu (transpose :perm $perm ?x)))\n  (target (transpose :perm $perm (relu ?x)))", text)

    def test_sides_have_one_type_at_all_shapes(self):
        """A tensor has the shape that the other side is given."""
        self.run_gen("--families", "views,exchanged-in-batches", "--max-ops", "2", "-o", self.dir / "types.rules")
        text = (self.dir / "types.rules").read_text()
        twice = "(source (reshape :shape 12 (reshape :shape $shape ?x)))\n  (target ?x)\n"
        self.assertIn(twice + "  (where (= (dims ?x) (list 12)))", text)

    def test_a_rule_has_no_more_variables_than_are_read(self):
        """Eighteen attributes of this family's longest rules may have any value."""
        operators = "".join(f" (conv {act} {window} (not _ _ 3 3) (_ _ 3 3))"
                            for act in ("", ":act relu") for window in ("", ":stride 2 2 :pad 1 1 1 1"))
        self.space.write_text("(family long (inputs 1 (f32 1 2 9 8) (f32 2 2 3 3)) (constant (iconv :shape 2 2 3 3))\n"
                              f"  (operator {operators} (poolmax :kernel 3 3 :pad 1 1 1 1 (not _ _ 3 3))))")
        found = self.dir / "long.rules"
        self.run_gen("--space", self.space, "-q", "-o", found)
        most = max(len(set(re.findall(r"\$\w+", rule))) for rule in found.read_text().split("(rule "))
        self.assertEqual(most, 15)

    def test_bad_input(self):
        cases = [
            ("(family a", 3, "test.space:1:1"),
            ("(family a (inputs 1 (f32 2)) (operator (mtmul _ _)))", 3, "test.space:1:41: unknown operator mtmul"),
            ("(family a (inputs 1 (f32 2)) (operator (relu (2 x))))", 3, "expected a size or _"),
            ("(family a (inputs 0 (f32 2)))", 3, "expected (inputs COUNT"),
            ("(family a (inputs 1 (f32 2)) (operator))", 3, "expected (operator (NAME ...) ...)"),
            ("(family a (operator (relu _)))", 3, "a family needs inputs and operators"),
            ("(family a (inputs 1 (f32 2)) (constant (imatmul :shape 2 3)) (operator (relu _)))", 3, "ill-typed constant"),
            ("(family a (inputs 1 (f32 2)) (constant (cpool :shape 1000000 1 100 100)) (operator (relu _)))", 3, "too many"),
            ("(family ../a (inputs 1 (f32 2)) (operator (relu _)))", 3, "expected (family NAME"),
            (f"(family {'a' * 64} (inputs 1 (f32 2)) (operator (relu _)))", 3, "expected (family NAME"),
            ("", 3, "no family"),
        ]
        for text, code, expected in cases:
            self.space.write_text(text)
            done = self.run_gen("--space", self.space, "-o", self.dir / "bad.rules", code=code)
            self.assertIn(expected, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse((self.dir / "bad.rules").exists())
        for arguments in (["--shard", "3/2"], ["--with", "nothing"], ["--families", "nothing"], ["--with", ""], ["--families", ""],
                          ["--max-ops", "6"]):
            self.run_gen(*arguments, "-q", "-o", self.dir / "bad.rules", code=2)
        self.run_gen("merge", "-q", self.space, "-o", self.dir / "bad.rules", code=3)
        self.run_gen(code=2)


if __name__ == "__main__":
    unittest.main()
