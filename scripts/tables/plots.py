"""Pictures as SVG: lines over categories and over numbers, bars in groups with intervals, and a heat map of counts."""

import math
from xml.sax.saxutils import escape

COLORS = ["#c2410c", "#1d4ed8", "#15803d", "#7e22ce", "#a16207", "#0f766e", "#be123c"]
WIDTH, HEIGHT, MARGIN, CELL = 640, 360, 60, 22


def svg(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
                      f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>"]) + "\n"


def text(x, y, says, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(str(says))}</text>'


def axes(categories, low, high, xlabel, ylabel):
    """The parts of both axes, and functions from a category's number and from a value to places."""
    def x_of(i):
        return MARGIN + (i + 0.5) * (WIDTH - 2 * MARGIN) / len(categories)

    def y_of(value):
        return HEIGHT - MARGIN - (value - low) / (high - low) * (HEIGHT - 2 * MARGIN)

    parts = [text(x_of(i), HEIGHT - MARGIN + 18, category) for i, category in enumerate(categories)]
    for tick in range(5):
        value = low + (high - low) * tick / 4
        parts += [f'<path d="M{MARGIN} {y_of(value):.1f}H{WIDTH - MARGIN}" stroke="#ddd"/>',
                  text(MARGIN - 6, y_of(value) + 4, f"{value:.3g}", "end")]
    parts += [text(WIDTH / 2, HEIGHT - 12, xlabel), text(MARGIN, MARGIN - 36, ylabel, "start")]
    return parts, x_of, y_of


def legend(names):
    step = (WIDTH - 2 * MARGIN) / max(len(names), 1)
    return [text(MARGIN + i * step, MARGIN - 16, name, "start", f'fill="{COLORS[i % len(COLORS)]}"') for i, name in enumerate(names)]


def polylines(series):
    """`series`: by name the places of its points."""
    parts = []
    for color, points in zip(COLORS * len(series), series.values()):
        parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in points]
    return parts + legend(series)


def lines(categories, series, xlabel, ylabel):
    """`series`: by name a value for each category; None: no value."""
    values = [value for line in series.values() for value in line if value is not None]
    parts, x_of, y_of = axes(categories, 0, max(values, default=1) * 1.05, xlabel, ylabel)
    return svg(WIDTH, HEIGHT, parts + polylines({
        name: [(x_of(i), y_of(value)) for i, value in enumerate(line) if value is not None] for name, line in series.items()}))


def logarithmic_lines(series, xlabel, ylabel, least=1e-3):
    """`series`: by name points, the values of which are `least` or more; both axes are in powers of ten."""
    def scale(values, begin, end):
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return range(low, high + 1), lambda value: begin + (end - begin) * (math.log10(value) - low) / (high - low)

    points = [(x, max(y, least)) for line in series.values() for x, y in line]
    xs, x_of = scale([x for x, _ in points], MARGIN, WIDTH - MARGIN)
    ys, y_of = scale([y for _, y in points], HEIGHT - MARGIN, MARGIN)
    parts = [text(WIDTH / 2, HEIGHT - 12, xlabel), text(MARGIN, MARGIN - 36, ylabel, "start")]
    for x in xs:
        parts += [f'<path d="M{x_of(10.0**x):.1f} {HEIGHT - MARGIN}V{MARGIN}" stroke="#ddd"/>',
                  text(x_of(10.0**x), HEIGHT - MARGIN + 18, f"{10.0**x:,g}")]
    for y in ys:
        parts += [f'<path d="M{MARGIN} {y_of(10.0**y):.1f}H{WIDTH - MARGIN}" stroke="#ddd"/>',
                  text(MARGIN - 6, y_of(10.0**y) + 4, f"{10.0**y:g}", "end")]
    return svg(WIDTH, HEIGHT, parts + polylines({
        name: [(x_of(x), y_of(max(y, least))) for x, y in line] for name, line in series.items()}))


def bars(categories, series, ylabel):
    """`series`: by name (value, low, high) for each category; None: no bar."""
    highest = max((bar[2] for line in series.values() for bar in line if bar), default=1)
    parts, x_of, y_of = axes(categories, min(0, *(bar[1] for line in series.values() for bar in line if bar), 0), highest * 1.05, "", ylabel)
    width = 0.8 * (x_of(1) - x_of(0)) / max(len(series), 1)
    for k, (color, line) in enumerate(zip(COLORS * len(series), series.values())):
        for i, bar in enumerate(line):
            if bar:
                x = x_of(i) + (k - len(series) / 2) * width
                y, zero = sorted((y_of(bar[0]), y_of(0)))
                parts += [f'<rect x="{x:.1f}" y="{y:.1f}" width="{0.9 * width:.1f}" height="{zero - y:.1f}" fill="{color}"/>',
                          f'<path d="M{x + 0.45 * width:.1f} {y_of(bar[1]):.1f}V{y_of(bar[2]):.1f}" stroke="black"/>']
    return svg(WIDTH, HEIGHT, parts + legend(series))


def heat_map(rows, columns, counts):
    """`counts`: by (row, column); darker is more."""
    left, top = 10 + 7 * max(map(len, rows), default=1), 10 + 7 * max(map(len, columns), default=1)
    most = max(counts.values(), default=1)
    parts = [text(left - 6, top + (i + 0.7) * CELL, row, "end") for i, row in enumerate(rows)]
    for k, column in enumerate(columns):
        x = left + (k + 0.7) * CELL
        parts.append(text(x, top - 6, column, "start", f'transform="rotate(-90 {x:.1f} {top - 6})"'))
    for i, row in enumerate(rows):
        for k, column in enumerate(columns):
            n = counts.get((row, column), 0)
            shade = round(255 - 200 * (n / most) ** 0.5) if n else 255
            parts.append(f'<rect x="{left + k * CELL}" y="{top + i * CELL}" width="{CELL}" height="{CELL}" '
                         f'fill="rgb({shade},{shade},255)" stroke="#ddd"/>')
            if n:
                parts.append(text(left + (k + 0.5) * CELL, top + (i + 0.68) * CELL, n, "middle",
                                  f'font-size="10" fill="{"white" if shade < 130 else "black"}"'))
    return svg(left + CELL * len(columns) + 10, top + CELL * len(rows) + 10, parts)
