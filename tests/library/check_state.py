"""What of libtaso is of the whole process: `check_state.py LIBRARY` compares the variables that it writes with those below.

Two users of the library in one process share these, so each has a reason. Whatever else the symbol table names in a
writable section (what only the loader writes aside) is a complaint, and so is a reason for what is gone.
"""
import re
import subprocess
import sys

REASONS = {
    ("memory.c", "bytes_in_use"): "an atomic count: tests ask whether anything is left, searches count their own thread",
    ("memory.c", "bytes_of_thread"): "of one thread",
    ("memory.c", "most_bytes"): "a limit that programs alone set, in main",
    ("memory.c", "out_of_memory_hook"): "must be reachable from any depth; programs alone set it",
    ("memory.c", "at_end"): "set once, to what removes temporary folders when there is no more memory",
    ("temporary.c", "folders"): "what ends the process in any thread has to find them all; under a lock",
    ("temporary.c", "lock"): "of that list",
    ("temporary.c", "owner"): "a copy of the process must not remove what is not its own",
    ("interrupt.c", "of_program"): "signals are the process's: the flags of a program that takes them, in a library NULL",
    ("interrupt.c", "here"): "of one thread: the caller's progress function, while its call lasts",
    ("onednn.c", "turn"): "oneDNN's cache of primitives is of the process: two threads that empty it take turns",
    ("cache_conditions.c", "has_looked"): "what the processor can is the same for all: it is asked once",
    ("cache_conditions.c", "can_flush_without_waiting"): "the answer",
    ("kernel_scope.c", "here"): "of one thread: its signals as they were before kernels run",
}
WRITABLE = {".data", ".bss", ".tdata", ".tbss"}
OF_COMPILERS = re.compile(r"__|_DYNAMIC|_?edata$|_?end$|completed|\.")   # and of linkers: mold has end
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$")


def written_variables(library):
    """Pairs of a file's name and a variable's."""
    table = subprocess.run(["objdump", "-t", library], capture_output=True, text=True, check=True).stdout
    file = None
    for line in table.splitlines():
        if not (found := SYMBOL.match(line)):
            continue
        flags, section, name = found.groups()
        if "f" in flags:
            file = name
        elif section in WRITABLE and "d" not in flags and not OF_COMPILERS.match(name):
            yield file, re.sub(r"\.\d+$", "", name)


def main():
    found = set(written_variables(sys.argv[1]))
    complaints = [f"{file}: {name} is written, of the whole process, and has no reason" for file, name in found - set(REASONS)]
    complaints += [f"{file}: {name} is not there any more" for file, name in set(REASONS) - found]
    print("\n".join(sorted(complaints)))
    return len(complaints) > 0


sys.exit(main())
