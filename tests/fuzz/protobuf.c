// Mutations of protobuf messages that stay well-formed: libFuzzer's own break the lengths around what they change. A field
// at a random place is changed, removed, repeated, or put beside another one, and the lengths of all messages around it are
// made right; one in four mutations is libFuzzer's own on the bytes as they are.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutation.h"
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 12, LONGEST_VARINT = 10, ROOM = 64, VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct field {
    size_t begin, length_at, payload, end;
    unsigned number, wire;
};

// A field, and where the lengths of the messages around it stand.
struct place {
    struct field field;
    size_t lengths_at[DEEPEST + 1], depth;
};

static bool read_varint(const uint8_t *data, size_t end, size_t *at, uint64_t *ret_value)
{
    *ret_value = 0;
    for (unsigned i = 0; i < LONGEST_VARINT && *at < end; i++) {
        uint8_t byte = data[(*at)++];
        *ret_value |= i < 9 ? (uint64_t)(byte & 127) << (7 * i) : 0;
        if (byte < 128)
            return true;
    }
    return false;
}

static size_t write_varint(uint8_t *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7)
        out[n++] = (uint8_t)(value | 128);
    out[n++] = (uint8_t)value;
    return n;
}

static bool read_field(const uint8_t *data, size_t begin, size_t end, struct field *f)
{
    uint64_t tag, value;
    size_t at = begin;
    if (!read_varint(data, end, &at, &tag) || tag < 8 || tag > UINT32_MAX)
        return false;
    *f = (struct field){.begin = begin, .length_at = at, .payload = at, .number = tag >> 3, .wire = tag & 7};
    if (f->wire == FIXED64 || f->wire == FIXED32) {
        f->end = at + (f->wire == FIXED64 ? 8 : 4);
        return f->end <= end;
    }
    if ((f->wire != VARINT && f->wire != BYTES) || !read_varint(data, end, &at, &value))
        return false;
    f->payload = f->wire == BYTES ? at : f->payload;
    f->end = at + (f->wire == BYTES ? value : 0);
    return f->wire == VARINT || value <= end - at;
}

// Zero: this is no message.
static size_t count_fields(const uint8_t *data, size_t begin, size_t end)
{
    struct field f;
    size_t n = 0;
    for (size_t at = begin; at < end; at = f.end, n++)
        if (!read_field(data, at, end, &f))
            return 0;
    return n;
}

static struct field nth_field(const uint8_t *data, size_t begin, size_t end, size_t n)
{
    struct field f = {.end = begin};
    for (size_t i = 0; i <= n; i++)
        read_field(data, f.end, end, &f);
    return f;
}

static bool choose_place(const uint8_t *data, size_t size, unsigned *seed, struct place *p)
{
    size_t begin = 0, end = size, n = count_fields(data, 0, size);
    p->depth = 0;
    while (n > 0) {
        struct field f = p->field = nth_field(data, begin, end, mutation_draw(seed, n));
        n = f.wire == BYTES && p->depth < DEEPEST - 1 && mutation_draw(seed, 10) ? count_fields(data, f.payload, f.end)
                                                                                 : 0;
        if (n == 0)
            return true;
        p->lengths_at[p->depth++] = f.length_at;
        begin = f.payload;
        end = f.end;
    }
    return false;
}

// The text from `begin` to `end` in the messages around `p` becomes `bytes`. Gives the new size.
static size_t replace(uint8_t *data, size_t size, size_t max_size, const struct place *p, size_t begin, size_t end,
                      const uint8_t *bytes, size_t n)
{
    if (size + n + LONGEST_VARINT * (p->depth + 1) - (end - begin) > max_size)
        return size;
    memmove(data + begin + n, data + end, size - end);
    memcpy(data + begin, bytes, n);
    size = size + n - (end - begin);
    ptrdiff_t more = (ptrdiff_t)n - (ptrdiff_t)(end - begin);
    for (size_t i = p->depth; i-- > 0;) {
        uint8_t length[LONGEST_VARINT];
        size_t at = p->lengths_at[i], behind = at;
        uint64_t value;
        read_varint(data, size, &behind, &value);
        size_t written = write_varint(length, value + (uint64_t)more);
        memmove(data + at + written, data + behind, size - behind);
        memcpy(data + at, length, written);
        size = size + written - (behind - at);
        more += (ptrdiff_t)written - (ptrdiff_t)(behind - at);
    }
    return size;
}

static uint64_t other_number(uint64_t value, unsigned *seed)
{
    static const uint64_t numbers[] = {0,          1,         2,          3,          7,
                                       127,        128,       INT32_MAX,  1ull << 31, 1ull << 32,
                                       1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 1};
    size_t n = sizeof numbers / sizeof *numbers;
    unsigned i = mutation_draw(seed, n + 6);
    return i < n ? numbers[i] : i < n + 3 ? value + i - n + 1 : value - (i - n - 2);
}

static size_t change_field(uint8_t *data, size_t size, size_t max_size, struct place *p, unsigned *seed)
{
    const struct field *f = &p->field;
    size_t n = f->end - f->payload, payload = f->payload;
    uint64_t value;
    uint8_t number[LONGEST_VARINT];
    if (f->wire == VARINT && read_varint(data, size, &payload, &value)) {
        n = write_varint(number, other_number(value, seed));
        return replace(data, size, max_size, p, f->payload, f->end, number, n);
    }
    uint8_t *bytes = malloc(n + ROOM);
    FUZZ_REQUIRE(bytes);
    memcpy(bytes, data + f->payload, n);
    n = LLVMFuzzerMutate(bytes, n, f->wire == BYTES ? n + ROOM : n);
    if (f->wire == BYTES)
        p->lengths_at[p->depth++] = f->length_at;
    if (f->wire == BYTES || n == f->end - f->payload)
        size = replace(data, size, max_size, p, f->payload, f->end, bytes, n);
    free(bytes);
    return size;
}

static size_t put_before(uint8_t *data, size_t size, size_t max_size, const struct place *p, const uint8_t *from,
                         const struct field *f)
{
    size_t n = f->end - f->begin;
    uint8_t *bytes = malloc(n + 1);
    FUZZ_REQUIRE(bytes);
    memcpy(bytes, from + f->begin, n);
    size = replace(data, size, max_size, p, p->field.begin, p->field.begin, bytes, n);
    free(bytes);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct place p, q;
    if (mutation_draw(&seed, 4) == 0 || !choose_place(data, size, &seed, &p) || !choose_place(data, size, &seed, &q))
        return LLVMFuzzerMutate(data, size, max_size);
    switch (mutation_draw(&seed, 8)) {
    case 0:
        return replace(data, size, max_size, &p, p.field.begin, p.field.end, data, 0);
    case 1:
        return put_before(data, size, max_size, &p, data, &p.field);
    case 2:
        return put_before(data, size, max_size, &p, data, &q.field);
    default:
        return change_field(data, size, max_size, &p, &seed);
    }
}

// A field of the other one, beside a field of the same number where ten places have one.
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t size, const uint8_t *other, size_t other_size, uint8_t *out,
                                 size_t max_size, unsigned seed)
{
    struct place p, q;
    size = size < max_size ? size : max_size;
    memcpy(out, one, size);
    if (!choose_place(other, other_size, &seed, &q))
        return size;
    for (int i = 0; i < 10 && choose_place(out, size, &seed, &p); i++)
        if (p.field.number == q.field.number && p.depth == q.depth)
            return put_before(out, size, max_size, &p, other, &q.field);
    return size;
}
