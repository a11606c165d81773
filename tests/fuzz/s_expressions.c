// Mutations of s-expressions (and of JSON) that mostly keep brackets balanced: libFuzzer's own seldom move a whole term. An
// item, which is an atom, a string, or a list with all that is in it, at a random place is removed, repeated, exchanged for
// another one, put into a list, or, when it is a number, changed to one at an edge; one in four mutations is libFuzzer's own
// on the bytes as they are. What stands behind a byte 0 is no text and is kept.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutation.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 2048, DEEPEST = 256, LONGEST_NUMBER = 40, ROOM = 64 };

struct item {
    size_t begin, end;
};
struct items {
    struct item items[MOST_ITEMS];
    size_t count;
};

static bool is_one_of(uint8_t c, const char *characters)
{
    return c && strchr(characters, c);
}

static size_t size_of_text(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    return zero ? (size_t)(zero - data) : size;
}

static size_t end_of_string(const uint8_t *data, size_t size, size_t at)
{
    for (at++; at < size && data[at] != '"'; at++)
        at += data[at] == '\\';
    return at < size ? at + 1 : size;
}

// A colon stands in front of a name of an attribute, or between a name and a value of JSON.
static bool is_between_items(const uint8_t *data, size_t size, size_t at)
{
    return isspace(data[at]) || data[at] == ',' || (data[at] == ':' && at + 1 < size && !isalpha(data[at + 1]));
}

static size_t end_of_line(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && data[at] != '\n')
        at++;
    return at;
}

static size_t end_of_atom(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && !isspace(data[at]) && !is_one_of(data[at], "()[]{},\";"))
        at++;
    return at;
}

static void add_item(struct items *found, size_t begin, size_t end)
{
    if (found->count < MOST_ITEMS && end > begin)
        found->items[found->count++] = (struct item){begin, end};
}

static void find_items(const uint8_t *data, size_t size, struct items *ret_items)
{
    size_t open[DEEPEST], depth = 0, begin;
    ret_items->count = 0;
    for (size_t at = 0; at < size;) {
        begin = at;
        if (data[at] == ';') {
            at = end_of_line(data, size, at);
        } else if (is_one_of(data[at], "([{")) {
            open[depth % DEEPEST] = at++;
            depth++;
        } else if (is_one_of(data[at], ")]}")) {
            at++;
            if (depth > 0)
                add_item(ret_items, open[--depth % DEEPEST], at);
        } else if (data[at] == '"') {
            at = end_of_string(data, size, at);
            add_item(ret_items, begin, at);
        } else if (is_between_items(data, size, at)) {
            at++;
        } else {
            at = end_of_atom(data, size, at);
            add_item(ret_items, begin, at);
        }
    }
}

// The text from `begin` to `end` becomes `n` bytes. Gives the new size.
static size_t replace(uint8_t *data, size_t size, size_t max_size, struct item at, const void *bytes, size_t n)
{
    if (size - (at.end - at.begin) + n > max_size)
        return size;
    memmove(data + at.begin + n, data + at.end, size - at.end);
    memcpy(data + at.begin, bytes, n);
    return size - (at.end - at.begin) + n;
}

static size_t replace_by_parts(uint8_t *data, size_t size, size_t max_size, struct item at, const uint8_t *from,
                               const char *before, struct item part, const char *behind)
{
    size_t a = strlen(before), n = part.end - part.begin, b = strlen(behind);
    uint8_t *bytes = malloc(a + n + b + 1);
    FUZZ_REQUIRE(bytes);
    memcpy(bytes, before, a);
    memcpy(bytes + a, from + part.begin, n);
    memcpy(bytes + a + n, behind, b);
    size = replace(data, size, max_size, at, bytes, a + n + b);
    free(bytes);
    return size;
}

// --- atoms -----------------------------------------------------------------------------------------------------------

static bool is_number(const uint8_t *data, struct item at)
{
    return isdigit(data[at.begin]) || (data[at.begin] == '-' && at.end > at.begin + 1 && isdigit(data[at.begin + 1]));
}

static size_t change_number(uint8_t *data, size_t size, size_t max_size, struct item at, unsigned *seed)
{
    static const char *const numbers[] = {"0",
                                          "1",
                                          "-1",
                                          "2",
                                          "3",
                                          "7",
                                          "8",
                                          "31",
                                          "32",
                                          "63",
                                          "64",
                                          "255",
                                          "65536",
                                          "1e9",
                                          "-0.5",
                                          "1e308",
                                          "2147483647",
                                          "2147483648",
                                          "4294967296",
                                          "1e-320",
                                          "1e999",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775808"};
    size_t n = sizeof numbers / sizeof *numbers;
    char written[LONGEST_NUMBER] = {0};
    unsigned i = mutation_draw(seed, n + 8);
    if (i < n)
        return replace(data, size, max_size, at, numbers[i], strlen(numbers[i]));
    memcpy(written, data + at.begin, at.end - at.begin < sizeof written ? at.end - at.begin : sizeof written - 1);
    long long other = strtoll(written, NULL, 10) / 2 + (long long)mutation_draw(seed, 9) - 4;
    int length = snprintf(written, sizeof written, "%lld", other);
    return replace(data, size, max_size, at, written, (size_t)length);
}

static size_t change_atom(uint8_t *data, size_t size, size_t max_size, struct item at, unsigned *seed)
{
    size_t n = at.end - at.begin;
    if (is_number(data, at))
        return change_number(data, size, max_size, at, seed);
    uint8_t *bytes = malloc(n + ROOM);
    FUZZ_REQUIRE(bytes);
    memcpy(bytes, data + at.begin, n);
    n = LLVMFuzzerMutate(bytes, n, n + ROOM);
    size = replace(data, size, max_size, at, bytes, n);
    free(bytes);
    return size;
}

// --- whole items -----------------------------------------------------------------------------------------------------

static bool is_list(const uint8_t *data, struct item at)
{
    return is_one_of(data[at.begin], "([{");
}

// Of the same kind, where a few tries find one.
static struct item item_alike(const uint8_t *data, const struct items *all, bool wants_list, unsigned *seed)
{
    struct item found = all->items[mutation_draw(seed, all->count)];
    for (int i = 0; i < 10 && is_list(data, found) != wants_list; i++)
        found = all->items[mutation_draw(seed, all->count)];
    return found;
}

static size_t mutate_item(uint8_t *data, size_t size, size_t max_size, const struct items *all, unsigned *seed)
{
    struct item at = item_alike(data, all, mutation_draw(seed, 3) == 0, seed), nothing = {at.begin, at.begin};
    struct item other = item_alike(data, all, is_list(data, at), seed);
    const char *between = data[0] == '{' ? "," : " ";
    switch (mutation_draw(seed, 8)) {
    case 0:
        return replace(data, size, max_size, at, data, 0);
    case 1:
        return replace_by_parts(data, size, max_size, nothing, data, "", at, between);
    case 2:
        return replace_by_parts(data, size, max_size, nothing, data, "", other, between);
    case 3:
        return replace_by_parts(data, size, max_size, at, data, "(", at, ")");
    case 4:
    case 5:
        return replace_by_parts(data, size, max_size, at, data, "", other, "");
    default:
        return is_list(data, at) ? replace_by_parts(data, size, max_size, at, data, "", other, "")
                                 : change_atom(data, size, max_size, at, seed);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static struct items all;
    find_items(data, size_of_text(data, size), &all);
    if (all.count == 0 || mutation_draw(&seed, 4) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    return mutate_item(data, size, max_size, &all, &seed);
}

// An item of the other one, before or in the place of one of the same kind.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t max_size, unsigned seed)
{
    static struct items here, there;
    size = size < max_size ? size : max_size;
    memcpy(out, one, size);
    find_items(out, size_of_text(out, size), &here);
    find_items(other, size_of_text(other, other_size), &there);
    if (here.count == 0 || there.count == 0)
        return size;
    struct item part = there.items[mutation_draw(&seed, there.count)];
    struct item at = item_alike(out, &here, is_list(other, part), &seed);
    if (mutation_draw(&seed, 3) == 0)
        at.end = at.begin;
    return replace_by_parts(out, size, max_size, at, other, "", part, at.end == at.begin ? " " : "");
}
