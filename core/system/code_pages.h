// The pages of a process's code and constant data, as they lie in the files of the program and its libraries.
#pragma once

// They leave this process, and come again one by one as they are needed: what ran once and will hardly run again is no
// longer part of what the process holds. For programs, at a time when no thread changes code: a library does not own
// the process that it is in. Nothing happens where the system does not tell which pages were changed.
void code_pages_forget(void);
