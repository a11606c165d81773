"""Tables and figures of docs/results, one module each; see `scripts/results --help`.

    common.py   what they share: options, models, results that are kept, timing commands, Markdown
    plots.py    pictures
"""
