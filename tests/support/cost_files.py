"""Files of costs, as tests compare them."""
import re


def costs_but_runs(path):
    """The text but for which run measured what, and verdicts of contests, which models run for: equal where the same steps
    were measured."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return re.sub(r" \(run \d+\)", "", "\n".join(line for line in lines if not line.startswith('("contest ')))
