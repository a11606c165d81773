// The text of default.space, part of the program.
#pragma once
extern const char default_space[];
