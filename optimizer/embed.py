"""Writes files as C arrays of characters: `embed.py OUT HEADER NAME=FILE...`. HEADER declares them; string literals are too
short, as 4,095 characters is what C promises."""
import pathlib
import sys


def main():
    lines = [f'#include "{sys.argv[2]}"']
    for argument in sys.argv[3:]:
        name, file = argument.split("=", 1)
        values = [*pathlib.Path(file).read_bytes(), 0]
        rows = [", ".join(map(str, values[i:i + 24])) for i in range(0, len(values), 24)]
        lines += [f"const char {name}[] = {{", *(f"    {row}," for row in rows), "};"]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
