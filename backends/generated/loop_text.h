// The values of a loop in the text of a kernel: x0, x1, ... of operands, t0, t1, ... of instructions, in the words of a
// dialect: C with vectors for processors (vector_text.h), or C that compilers for GPUs take (kernel_text.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct instruction;
struct loop;
struct loop_access;
struct text;

struct dialect {
    const char *type;   // of values
    // The text of a constant or an application, from the names of its values.
    void (*add_value)(struct text *text, const struct loop *l, const struct instruction *i);
};
const struct loop_access *loop_access_at(const struct loop *l, int i);   // operands, then results
#define VALUE_NAME_SIZE 16
void loop_text_name(uint16_t value, char ret_name[VALUE_NAME_SIZE]);
int loop_text_reduction(const struct loop *l);   // the instruction that reduces; their number: there is none
// "const V t0 = ...;" for instructions in front of the reduction, or all; and for those behind it, with the constants
// that stand in front, of which nothing else has a value there.
void loop_text_add(struct text *text, const struct dialect *d, const struct loop *l);
void loop_text_add_behind(struct text *text, const struct dialect *d, const struct loop *l);
