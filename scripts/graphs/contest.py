"""Several programs run one graph, by turns: all are prepared first, one after another, then each runs a few times, and
again, so that what changes on the machine meanwhile changes for all. Each is a process that writes a line when it is
ready, then, for each number on its standard input, the seconds of so many runs."""

import dataclasses
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import threading
import time

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
RUNS_IN_TURN, MOST_TURNS = 5, 20
TURN_SECONDS = 20  # that a contestant may take for its runs of a turn


@dataclasses.dataclass
class Result:
    who: str
    said: dict = dataclasses.field(default_factory=dict)  # by the contestant, when it was ready
    seconds: list = dataclasses.field(default_factory=list)
    reason: str = ""  # why there are no times

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def spread(self):
        """Half the distance of the quartiles, as a share of the median."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2 / self.median


class Contestant:
    def __init__(self, who, command, environment, log):
        self.result = Result(who)
        self.lines = queue.Queue()
        self.process = subprocess.Popen(
            list(map(str, command)),
            env=environment,
            text=True,
            bufsize=1,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def give_up(self, reason):
        self.result.reason = self.result.reason or reason
        self.end()

    def next_line(self, seconds, what):
        """None when there is none in time: the contestant is out."""
        try:
            line = self.lines.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            self.give_up(f"not {what} within {seconds:.0f} s")
            return None
        if line is None:
            self.give_up(f"ended before it was {what}, exit code {self.process.wait()}")
        return line

    def prepare(self, seconds):
        line = self.next_line(seconds, "ready")
        if line is not None:
            try:
                self.result.said = json.loads(line)
            except json.JSONDecodeError:
                self.give_up(f"said {line.strip()[:200]}")
            if "absent" in self.result.said:
                self.give_up(self.result.said["absent"])
        return not self.result.reason

    def take_turn(self, runs):
        try:
            self.process.stdin.write(f"{runs}\n")
            self.process.stdin.flush()
        except OSError:
            self.give_up("ended between turns")
            return
        line = self.next_line(TURN_SECONDS, "done with its turn")
        if line is not None:
            self.result.seconds += [float(word) for word in line.split()]

    def end(self):
        """Closing its input ends a contestant that waits; another one is killed."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout=5)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def hold_contest(commands, seconds, log, environment=None):
    """Results of each of `commands` (who, command), in their order. Later ones have what time earlier ones left to be
    prepared; a third of it is for runs. The first may write what others read."""
    start, contestants = time.monotonic(), []
    for i, (who, command) in enumerate(commands):
        left = seconds * 2 / 3 - (time.monotonic() - start)
        contestant = Contestant(who, command, environment, log)
        contestants.append(contestant)
        # Whoever comes later keeps some of the time.
        contestant.prepare(max(left - seconds / 20 * (len(commands) - 1 - i), 0))
        if i == 0 and contestant.result.reason:
            break
    running = [c for c in contestants if not c.result.reason]
    for turn in range(MOST_TURNS if len(contestants) == len(commands) else 0):
        if turn and time.monotonic() - start > seconds:
            break
        for contestant in running:
            if not contestant.result.reason:
                contestant.take_turn(RUNS_IN_TURN)
    for contestant in running:
        contestant.end()
    return [c.result for c in contestants]


def worker_command(framework, folder, element_type, *more, python=sys.executable):
    return [python, "-B", "-m", "graphs.worker", framework, folder, element_type, *more]


def worker_environment(environment=None):
    environment = dict(os.environ if environment is None else environment)
    paths = [str(SCRIPTS), environment.get("PYTHONPATH", "")]
    # JAX would take most of the device's memory for itself.
    return dict(environment, PYTHONPATH=os.pathsep.join(filter(None, paths)), XLA_PYTHON_CLIENT_PREALLOCATE="false")
