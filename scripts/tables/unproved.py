"""What keeps generated rules from being proved: `results unproved REJECTED.rules` prints a table of reasons and how many rules
have each.

REJECTED.rules, which has each rule with its reason, is what `taso-verify rules` writes beside the proved rules (scripts/prove-rules keeps it).
"""
import collections
import pathlib
import re

from tables.common import bare_parser

REJECTED = re.compile(r"^; ([a-z ]+): (.*)\n(?:;.*\n)*\(rule (\S+)", re.MULTILINE)


def reason_of(verdict, told):
    told = re.sub(r"^\d+ instances, and no proof: ", "", told)
    told = re.sub(r" at \?.*", "", told)
    return f"{verdict}: {told.rstrip(' :')}"


def parse_arguments():
    parser = bare_parser(__doc__)
    parser.add_argument("rejected", type=pathlib.Path, metavar="REJECTED.rules")
    return parser.parse_args()


def main(options):
    text = options.rejected.read_text(encoding="utf-8")
    reasons = {found[3]: reason_of(found[1], found[2]) for found in REJECTED.finditer(text)}
    print("| verdict and reason | rules | for instance |\n|---|--:|---|")
    for reason, n in collections.Counter(reasons.values()).most_common():
        examples = sorted(name for name in reasons if reasons[name] == reason)[:2]
        print(f"| {reason} | {n} | {' '.join(f'`{name}`' for name in examples)} |")
