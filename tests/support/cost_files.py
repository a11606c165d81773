"""Files of costs, as tests compare them."""
import re


def costs_but_runs(path):
    """The text but for which run measured what: equal where the same was measured."""
    return re.sub(r" \(run \d+\)", "", path.read_text(encoding="utf-8"))
