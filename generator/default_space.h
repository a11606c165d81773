// The text of default.space, part of the program.
#ifndef GENERATOR_DEFAULT_SPACE_H
#define GENERATOR_DEFAULT_SPACE_H
extern const char default_space[];
#endif
