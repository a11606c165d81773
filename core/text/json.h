// JSON, one value after the other: commas stand by themselves. A value in an object has a key, one in a list has none
// (NULL). Jansson, which reads, has the names without add.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct text;

void json_begin(struct text *out, const char *key, char bracket);             // '{' or '['
void json_end(struct text *out, char bracket);                                // '}' or ']'
void json_add_string(struct text *out, const char *key, const char *value);   // NULL: null
void json_add_real(struct text *out, const char *key, double value);          // null where JSON has no such number
void json_add_integer(struct text *out, const char *key, int64_t value);
void json_add_count(struct text *out, const char *key, uint64_t value);
void json_add_bool(struct text *out, const char *key, bool value);
