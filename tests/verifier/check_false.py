#!/usr/bin/env python3
"""What is false is not proved: `check_false.py TASO-VERIFY RULES`.

Every rule of the file is false. None may come out as proved, and those that are true under conditions only under the
ones listed here.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

CONDITIONS = {
    "halves-of-uneven-filters": ["(= (dims ?y) (dims ?z))"],
    "halves-without-groups": ["(= (dims ?u) (dims ?w))"],
    "ones-rows-scale-the-left-side": ["(= (dim ?x 1) 1)"],
    "ones-between-two": ["(= (dim ?x 0) 1)"],
    "ones-on-one-side": ["(= (dim ?x 0) 1)"],
    "ones-squared": ["(= (dim ?x 0) 1)"],
    "ones-diagonal-of-any": ["(= (dim ?x 0) 1)"],
    "ones-product-of-sums": ["(= (dim ?x 0) 1)"],
    "poolmax-strided-by-two-on-one-axis": ["(= (sum $p) 0)", "(= (dim ?x 3) 1)"],
    "poolmax-strided-by-two-with-other-pads": ["(= $q $p)"],
    "poolmax-of-negative-double": ["(= (product $k) 1)"],
    "reducemax-of-sums": ["(= (dim ?x 0) 1)"],
    "split-of-sum-with-counted-mean": ["(= $c 1)"],
    "condition-list": ["(= (product $s) 1)"],
    "chain-pads-exchanged": ["(= (sum $p) 0)", "(= (sum $q) 0)"],
    "split-of-filters-below-any": ["(= (dim ?x 1) 1)"],
    "split-of-filters-above-any": ["(= (dims ?y) (dims ?z))"],
    "split-of-merge-counts": ["(= (dim ?x 0) 1)"],
    "poolmax-strided-first": ["(= (product $k) 1)"],
    "poolmax-strided-dilated": ["(= (product $k) 1)"],
    "conv-group-of-two-transposed": ["(= (dim ?x 0) (dim ?k 1))", "(= (dim ?x 0) 1)"],
    "conv-group-of-two-as-depthwise": ["(= (dim ?x 0) (dim ?k 1))", "(= (dim ?x 0) 1)"],
    "conv-cpool-padded": ["(= (sum $p) 0)", "(= (dim ?x 1) 1)"],
    "channels-commute-with-outer-pads": [
        "(= (dims ?y) (dims ?z))",
        "(= (dim ?x 0) (dim ?y 2))",
        "(= (dim ?x 0) (dim ?y 3))",
        "(= (dim ?x 0) 1)",
    ],
    "conv-filters-of-two-groups": ["(= (dims ?y) (dims ?w))"],
    "channels-commute-with-any-steps": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "merged-with-unequal-parts": ["(= (dims ?x) (dims ?y))"],
    "all-axes-of-product-one": ["(= (dim ?x 1) 1)"],
    "chain-dilation-inside": ["(= (dim ?k 2) 1)", "(= (dim ?k 3) 1)", "(= (rank ?k) 4)"],
    "chain-dilation-of-identity": ["(= (product $d) 1)"],
    "chain-kernels-exchanged": ["(= (product $s) 1)", "(= (dim ?x 1) 1)"],
    "chain-kernel-turned": ["(= (dim ?x 1) 1)", "(= (product $t) 1)"],
    "conv-pads-transposed": ["(= (sum $p) 0)"],
    "chain-mean-is-maximum": ["(= (product $k) 1)"],
    "chain-dilation-outside": ["(= (dim ?w 2) 1)", "(= (rank ?w) 4)", "(= (dim ?w 3) 1)"],
    "cut-merged-at-any-place": ["(= (dims ?x) (dims ?y))"],
    "ones-on-another-axis": ["(= (product $d) 1)"],
    "ones-on-one-axis": ["(= (product $d) 1)"],
    "choice-associates": ["(= $a 0)"],
    "choice-identity-forgets-activation": ["(= $b 1)"],
    "choice-inside": ["(= $a $b)"],
    "choice-of-padding": ["(= $c 1)"],
    "choice-of-sum": ["(= $a 0)"],
    "entry-beside-large-identity": ["(= (product $d) 1)"],
    "entry-identity-strided": ["(= (product $s) 1)"],
    "broadcast-of-as-many-entries": ["(= (dim ?x 0) 1)"],
    "cut-rows-of-product": ["(= (rank ?x) 2)"],
    "rank-of-another-list": ["(= (rank ?k) 4)"],
    "rank-of-another-tensor": ["(= (rank ?k) 4)"],
    "rank-open-dilation": ["(= (rank ?k) 4)"],
    "rank-open-dilation-of-sum": ["(= (rank ?k) 4)"],
    "rank-three-of-one-entry": ["(= (dim ?k 3) 1)"],
    "broadcast-wrong-end": ["(= (dim ?x 0) 1)"],
    "conv-all-transposed": ["(= (dim ?x 2) (dim ?k 2))", "(= (dim ?x 3) (dim ?k 3))"],
    "conv-enlarge-any-dilation": ["(= (product $d) 1)"],
    "conv-enlarge-drops-stride": ["(= (product $s) 1)"],
    "conv-enlarged-dilated": ["(= (product $d) 1)"],
    "conv-enlarged-unpadded": ["(= (dim ?x 2) (dim ?k 2))", "(= (dim ?x 2) (dim ?k 3))"],
    "conv-center-of-kernel": ["(= (dim ?x 3) 1)"],
    "conv-dilation-at-equal-batch": ["(= (dim ?x 0) 1)"],
    "conv-dilation-five": ["(= (dim ?k 2) (dim ?k 3))", "(= (dim ?k 2) 1)"],
    "conv-dilation-of-three-by-one": ["(= (dim ?k 3) 1)"],
    "conv-dilation-second-axis": ["(= (dim ?k 3) 1)"],
    "conv-dilation-swapped": ["(= (dim ?k 2) (dim ?k 3))", "(= (dim ?k 2) 1)"],
    "conv-dilation-three": ["(= (dim ?k 2) (dim ?k 3))", "(= (dim ?k 2) 1)"],
    "conv-kernel-transposed": ["(= (dim ?k 2) 1)", "(= (dim ?k 3) 1)"],
    "conv-dilated-center-of-kernel": ["(= (dim ?x 3) 1)"],
    "conv-merge-pairs": ["(= $g 2)"],
    "conv-pads-first-axis-turned": ["(= (sum $p) 0)"],
    "conv-pads-of-first-axis": ["(= (sum $p) 0)"],
    "conv-pads-turned": ["(= (sum $p) 0)"],
    "conv-stride-of-first-axis": ["(= (dim ?x 3) (dim ?k 3))"],
    "conv-stride-second-axis": ["(= (dim ?x 3) (dim ?k 3))"],
    "pool-counted-at-one-end": ["(= (sum $p) 0)"],
    "pool-every-entry-is-read": ["(= (product $s) 1)"],
    "pool-max-of-neg": ["(= (product $k) 1)"],
    "pool-of-relu-drops-stride": ["(= (product $s) 1)"],
    "pool-one-by-one-max-is-mean": ["(= $k 1)"],
    "pool-stride-of-second": ["(= (dim ?x 3) 1)"],
    "pool-strides-of-small-images": ["(= (dim ?x 2) 1)", "(= (dim ?x 3) 1)"],
    "pool-transposed": ["(= (dim ?x 2) 1)", "(= (dim ?x 3) 1)"],
    "conv-identity-dilated": ["(= (product $d) 1)"],
    "conv-of-conv-swapped": ["(= (dim ?x 1) 1)"],
    "conv-pads-any": ["(= (sum $p) 0)"],
    "conv-stride-variable": ["(= (dim ?x 2) (dim ?k 2))", "(= (dim ?x 3) (dim ?k 3))"],
    "exp-of-reduced-sum": ["(= (dim ?x 0) 1)"],
    "matmul-blocks-tripled": ["(= (dim ?x 1) (dim ?z 0))"],
    "matmul-blocks-unaligned": ["(= (dim ?y 1) (dim ?z 0))"],
    "matmul-commutes-with-transpose": ["(= (dims ?x) (dims ?y))", "(= (dim ?x 0) 1)"],
    "matmul-scale-per-row": ["(= (dim ?x 1) 1)"],
    "max-and-min": ["(= (dim ?x 0) 1)"],
    "max-of-products": ["(= (dim ?x 0) 1)"],
    "max-of-sum-and-sum-of-max": ["(= (dim ?x 0) 1)"],
    "pool-counted": ["(= (sum $p) 0)"],
    "pool-counted-at-stride-one": ["(= (sum $p) 0)"],
    "pool-of-relu": ["(= (product $k) 1)"],
    "reduce-keeps": ["(= $k 0)"],
    "reduce-max-of-sum": ["(= (dim ?x 0) 1)"],
    "reduce-mean-is-sum": ["(= (sum $a) 0)", "(= (dim ?x 0) 1)"],
    "conv-dilation-four-padded": ["(= (dim ?x 2) (dim ?x 3))", "(= (dims ?x) (dims ?k))"],
    "entry-enlarged-without-identity": ["(= (dim ?x 0) (dim ?k 2))", "(= (dim ?x 0) (dim ?k 3))", "(= (dim ?x 0) 1)"],
    "ones-of-another-kernel": ["(= (dim ?k 2) (dim ?w 2))", "(= (dim ?k 2) (dim ?w 3))"],
    "pool-far-stride": ["(= (dim ?x 2) (dim ?x 3))", "(= (dim ?x 2) 1)"],
    "pool-ignored-as-counted-sum": ["(= (product $s) 1)", "(= (sum $p) 0)"],
    "pool-max-dilated-relu": ["(= (sum $p) 0)"],
    "pool-stride-five": ["(= (dim ?x 2) (dim ?x 3))", "(= (dim ?x 2) 1)"],
    "reduce-mean-of-square": ["(= (sum $a) 0)", "(= (dim ?x 0) 1)"],
    "reduce-newton-up-to-four": ["(= (dim ?x 0) 1)"],
    "reduce-of-product": ["(= (dim ?x 0) 1)"],
    "reduce-other-axis": ["(= (dim ?x 0) 1)", "(= (dim ?x 1) 1)"],
    "relu-of-mean": ["(= (dim ?x 0) 1)"],
    "relu-of-reduced-sum": ["(= (dim ?x 0) 1)"],
    "reshape-as-transpose": ["(= (dim ?x 0) 1)"],
    "reshape-merges-columns": ["(= (dim ?x 1) 1)"],
    "reshape-of-columns": ["(= (dim ?x 0) 1)"],
    "reshape-of-concat": ["(= (dim ?x 0) 1)"],
    "slice-any": ["(= $a 0)"],
    "softmax-other-axis": ["(= (dim ?x 0) 1)", "(= (dim ?x 1) 1)"],
    "sums-of-functions-differ": ["(= (dim ?x 0) 1)"],
    "transpose-composed-wrong": ["(= $p $q)"],
    "transpose-cycles": ["(= (dim ?x 0) 1)", "(= (dim ?x 1) 1)", "(= (dim ?x 2) 1)"],
    "tied-dilations-in-steps": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "tied-kernels-of-maxima": ["(= $k $j)"],
    "tied-pads": ["(= $s $t)"],
    "tied-pads-beside-image": ["(= (sum $p) 0)"],
    "tied-pads-cancelled": [
        "(= (dims ?x) (dims ?y))",
        "(= (dim ?x 1) (dim ?k 0))",
        "(= (dim ?k 3) 1)",
        "(= (product $s) 1)",
        "(= (sum $p) 0)",
        "(= (dim ?k 2) 1)",
    ],
    "tied-pads-of-function": ["(= (sum $p) 0)"],
    "tied-pads-of-maxima": ["(= (sum $p) 0)"],
    "tied-pads-without-pads": ["(= (sum $p) 0)"],
    "tied-strides": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "tied-strides-exchanged": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "tied-strides-of-kernels": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "tied-strides-of-maxima": ["(= (product $s) 1)", "(= (product $t) 1)"],
    "conv-identity-beside-strided": ["(= (product $s) 1)"],
    "tied-pads-of-sum": ["(= (sum $p) 0)"],
    "compound-of-three": ["(= (dims ?x) (dims ?y))"],
    "compound-by-kernel": ["(= (dims ?y) (dims ?z))"],
    "eight-halves-uneven": ["(= (dims ?w) (dims ?v))"],
    "merge-below-merged-uneven": ["(= (dim ?x 0) (dim ?y 0))"],
    "merge-above-merged-uneven": ["(= (dim ?y 0) (dim ?x 0))"],
    "moved-image-by-larger-kernel": [
        "(= (dim ?x 0) (dim ?z 2))",
        "(= (dim ?x 0) (dim ?z 3))",
        "(= (rank ?z) 4)",
        "(= (dim ?z 2) 1)",
        "(= (dim ?z 3) 1)",
    ],
    "moved-image-in-steps": ["(= (product $s) 1)"],
    "moved-image-dilated-apart": ["(= (product $d) 1)"],
    "beside-identity-dilated": ["(= (product $d) 1)"],
    "transpose-square": ["(= (dim ?x 0) 1)", "(= (dim ?x 1) 1)"],
}


def main():
    taso_verify, rules = sys.argv[1:]
    names = re.findall(r"^\(rule (\S+)", pathlib.Path(rules).read_text(), re.MULTILINE)
    assert len(names) == len(set(names)) > 60
    with tempfile.TemporaryDirectory() as folder:
        proved = pathlib.Path(folder) / "proved.rules"
        command = [taso_verify, "rules", rules, "-o", str(proved)]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        written = re.findall(r"^\(rule (\S+)", proved.read_text(), re.MULTILINE)
        rejected = re.findall(r"^\(rule (\S+)", pathlib.Path(f"{proved}.rejected").read_text(), re.MULTILINE)
    assert sorted(written + rejected) == sorted(names)
    added = dict(re.findall(r"^(\S+): proved(?: under conditions)?(.*)$", run.stdout, re.MULTILINE))
    assert sorted(added) == sorted(written)
    for name in written:
        conditions = re.findall(r"\(= (?:[^()]|\([^()]*\))*\)", added[name])
        assert conditions == CONDITIONS.get(name), f"{name} is false, and proved where {conditions}"


main()
