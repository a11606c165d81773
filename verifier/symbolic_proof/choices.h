// Questions with a few answers each, all of which are tried: a program that asks is run again for each row of answers,
// and asks the same as before until it is answered otherwise.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MOST_CHOICES 128
struct choices {
    uint32_t n, next;   // answers that are prescribed, and how many of these were asked for
    uint32_t answers[MOST_CHOICES], counts[MOST_CHOICES];
    bool are_too_many;
};
void choices_begin(struct choices *c);                // once for each run
uint32_t choose(struct choices *c, uint32_t count);   // one of 0 .. count - 1
bool choices_go_on(struct choices *c);                // to the next row; false: that was the last one
