"""The text form of graphs: `(let t2 (matmul :act relu t0 t1))`, and `(let t0 (input 0) (f32 1 64))` for leaves."""

import dataclasses
import re

TOKEN = re.compile(r"[()]|[^\s()]+")


class Unreadable(Exception):
    """The text is no graph."""


@dataclasses.dataclass(frozen=True)
class Node:
    outputs: tuple[str, ...]
    operator: str
    leading: tuple[int, ...]  # attributes that are given by position: whole numbers
    attributes: dict[str, tuple]
    inputs: tuple[str, ...]
    type: tuple | None  # of leaves: element type and dimensions

    def ints(self, name, otherwise=()):
        return tuple(int(value) for value in self.attributes.get(name, otherwise))

    def real(self, name, otherwise):
        return float(self.attributes[name][0]) if name in self.attributes else otherwise

    def word(self, name, otherwise):
        return self.attributes[name][0] if name in self.attributes else otherwise


@dataclasses.dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def leaves(self, operator):
        """By number: (name, element type, dimensions)."""
        return {n.leading[0]: (n.outputs[0], n.type[0], n.type[1]) for n in self.nodes if n.operator == operator}


def parse_lists(text):
    """The nested lists of an S-expression."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) < 2:
                raise Unreadable("a closing bracket has no other")
            closed = stack.pop()
            stack[-1].append(closed)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise Unreadable("brackets do not match")
    return stack[0][0]


def read_node(item, known):
    names, call, *types = item[1:]
    leading, attributes, inputs, keyword = [], {}, [], None
    for word in call[1:]:
        if word.startswith(":"):
            keyword = word[1:]
            attributes[keyword] = ()
        elif word in known:
            inputs.append(word)
        elif inputs:
            raise Unreadable(f"'{word}' is read before it is made")
        elif keyword is not None:
            attributes[keyword] += (word,)
        else:
            leading.append(int(word))
    kind = (types[0][0], tuple(int(size) for size in types[0][1:])) if types else None
    return Node(
        tuple(names) if isinstance(names, list) else (names,), call[0], tuple(leading), attributes, tuple(inputs), kind
    )


def read_graph(text):
    items = parse_lists(text)
    if items[0] != "graph":
        raise Unreadable("it does not begin with 'graph'")
    nodes, outputs, known = [], (), set()
    for item in items[1:]:
        if item[0] == "let":
            nodes.append(read_node(item, known))
            known.update(nodes[-1].outputs)
        elif item[0] == "output":
            outputs += tuple(item[1:])
        else:
            raise Unreadable(f"'{item[0]}' is neither 'let' nor 'output'")
    return Graph(tuple(nodes), outputs)
