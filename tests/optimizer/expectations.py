"""What does not hold is told at once, and counted: a test goes on."""
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)


def tests_of(names):
    """The tests of a file, of its globals(), in their order: none is forgotten."""
    return [value for name, value in names.items() if name.startswith("test_")]
