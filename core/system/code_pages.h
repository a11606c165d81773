// The pages of a process's code and of its constant data, as they lie in the files of the program and its libraries.
#ifndef CORE_SYSTEM_CODE_PAGES_H
#define CORE_SYSTEM_CODE_PAGES_H

// They leave this process, and come again one by one as they are needed: what ran once and will hardly run again takes no
// memory from then on. Nothing happens where the system has no such request, or under a debugger.
void code_pages_forget(void);
#endif
