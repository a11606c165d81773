// The first and last steps of every program.
#pragma once

// A mapped file that is cut short while it is read ends the program with one line and EXIT_BAD_INPUT, and a file that
// grows past a limit fails as on a full disk. Nothing is undone: files being written have no name until they are whole.
void program_begin(void);
// Begins the program anew, this once, where others keep half of the processors busy: with threads of OpenMP that sleep
// while they wait for each other, unless the environment says how they wait. A thread that waits busily keeps a
// processor from the one that it waits for.
void program_wait_passively_on_shared_machine(char **argv);
// Gives the exit code of the program: `code`, or EXIT_BAD_INPUT with one line when standard output could not be
// written.
int program_end(const char *program, int code);
