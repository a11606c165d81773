// Texts in C in, loaded functions out: compiled on this machine, several in one unit, and kept in the user's cache by
// their text, the instruction set, and the compiler with its version and flags.
//
// A cached object is code. Its folder belongs to the user and is shut to all others, as is every folder above it
// (safe_folder.h); what is loaded is a sealed copy in memory whose hash was verified, and it has its texts, which are
// compared: a collision costs a compilation and nothing else.
//
// All functions may be called from several threads.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct log;
struct programs;

struct programs_options {
    const char *instruction_set;   // of -march: x86-64-v4, ...; never "native"
    const char *compiler;          // absolute path; NULL: the usual one; "": none
    const char *folder;            // where objects are kept; NULL: in the user's cache; "": nowhere
    const char *extra_flag;        // for tests; NULL: none
    double seconds;                // that the compiler may take for a unit; 0: a minute
    const struct log *log;         // warned once, of the first thing that fails
};
struct programs *programs_open(const struct programs_options *options);   // never NULL; nothing is looked for yet
void programs_close(struct programs *p);                                  // what was found must not run any more

bool programs_have_compiler(struct programs *p);   // looks for it

// A program that is loaded. Its text defines functions under names of its own by NAMED(name), and includes nothing.
struct program {
    void *library;
    char prefix[48];
};
// Finds the program of a text; what is not there yet is compiled. False: there is none, for the reason that the error
// has; it stays so, and nothing is tried again. Others of its unit are compiled without it.
bool programs_find(struct programs *p, const char *text, struct program *ret_program, struct error *error);
// Notes a text that will be asked for. Those of such texts that are not there are compiled with the next one that is
// asked for and has to be, in as many units as there are processors; or now.
void programs_expect(struct programs *p, const char *text);
void programs_make_expected(struct programs *p);
// The function by dlsym; NULL: the text has none of that name.
void *program_function(const struct program *program, const char *name);
// A file with all texts that were found, for a machine without a compiler. False: there are none, or it cannot be made.
bool programs_write(struct programs *p, const char *path, struct error *error);
// Takes such a file: what it has is not compiled. False: it is not a regular file that this user or root alone can
// write, it was changed, or it is of another version of taso or for another instruction set.
bool programs_take(struct programs *p, const char *path, struct error *error);
