// A helper process with a socket for its standard input: bytes are sent to it, lines and bytes come back. It has a
// process group of its own, so that Ctrl-C at a terminal reaches only the program that started it, and it is expected
// to end when the socket is closed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;
struct text;

struct process {
    pid_t pid;   // 0: none
    int socket;
};
// A process in a group of its own, with no signal blocked. Its standard input, output and errors are
// these; -1: /dev/null. 0, or why there is none (an errno).
int process_spawn(pid_t *ret_pid, const char *const *arguments, const int streams[3], char *const *environment);
// arguments[0] is looked up in PATH; the list ends with NULL. What the helper prints is lost: it answers over the
// socket.
bool process_start(struct process *ret_process, const char *const *arguments, struct error *error);
// Both wait for at most that many seconds. False: it took longer, we are to end (interrupt_is_overdue), the helper is
// gone, or the line is over-long (`name` says who in the error, EXIT_UNSUPPORTED). After that the process can only be
// ended.
bool process_send(struct process *p, const char *name, const void *bytes, size_t size, double seconds,
                  struct error *error);
bool process_receive_line(struct process *p, const char *name, struct text *ret_line, double seconds,
                          struct error *error);
// CPU time that it took so far, with all of its threads; 0: it is gone.
double process_cpu_seconds(const struct process *p);
// Closes the socket, waits a little, then kills; nothing is left of it. Of {0}: nothing.
void process_end(struct process *p);
