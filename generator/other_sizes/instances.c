// Instances are found in one pass over both texts, binding attribute variables on the way.
#include "generator/other_sizes/instances.h"

#include "core/memory/hash.h"
#include <ctype.h>
#include <string.h>

enum { MAX_BOUND = 32 };

struct piece {
    const char *text;
    size_t length;
};
struct matching {
    int n;
    struct piece names[MAX_BOUND], values[MAX_BOUND];
};

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '$' || c == '_' || c == '-';
}

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (is_word_char(text[n]))
        n++;
    return n;
}

// A value is an attribute variable, a word, or all numbers that follow each other.
static size_t value_length(const char *text)
{
    size_t n = word_length(text);
    bool is_number = isdigit((unsigned char)text[0]);
    while (is_number && text[n] == ' ' && isdigit((unsigned char)text[n + 1]))
        n += 1 + word_length(text + n + 1);
    return n;
}

static bool is_equal_piece(const struct piece *x, const struct piece *y)
{
    return x->length == y->length && memcmp(x->text, y->text, x->length) == 0;
}

static bool bind(struct matching *m, const struct piece *name, const struct piece *value)
{
    for (int i = 0; i < m->n; i++)
        if (is_equal_piece(&m->names[i], name))
            return is_equal_piece(&m->values[i], value);
    if (m->n == MAX_BOUND || value->length == 0)
        return false;
    m->names[m->n] = *name;
    m->values[m->n++] = *value;
    return true;
}

bool text_is_instance(const char *general, const char *special)
{
    struct matching m = {0};
    while (*general && *special) {
        if (*general == '$') {
            struct piece name = {general, word_length(general)}, value = {special, value_length(special)};
            if (!bind(&m, &name, &value))
                return false;
            general += name.length;
            special += value.length;
        } else if (*general++ != *special++)
            return false;
    }
    return !*general && !*special;
}

uint64_t text_hash_of_instances(const char *text)
{
    uint64_t hash = 0;
    while (*text) {
        size_t n = word_length(text);
        if (n == 0 && !isspace((unsigned char)*text))
            hash = hash_mix(hash, (uint64_t)*text);
        // Values may be words: those of activations.
        bool is_value = *text == '$' || isdigit((unsigned char)*text) || (n == 4 && memcmp(text, "relu", 4) == 0);
        if (n > 0 && !is_value)
            hash = hash_mix(hash, hash_bytes(text, n, 0));
        text += n ? n : 1;
    }
    return hash;
}
