"""What does not hold is told at once, and counted: a test goes on."""
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message, flush=True)
