// A file begins with "\x93NUMPY", two bytes of version, the length of the header in two bytes (version 1) or four, and
// the header: a dictionary in Python's notation, {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }. Then the
// elements.
#include "optimizer/run/npy.h"

#include "core/memory/arena.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "\x93NUMPY"
#define LENGTH_AT 8   // of the header's length

static const char *const descriptions[DTYPE_COUNT] = {
    [DTYPE_F32] = "<f4", [DTYPE_F64] = "<f8", [DTYPE_F16] = "<f2", [DTYPE_BF16] = "<u2", [DTYPE_BOOL] = "|b1",
    [DTYPE_U8] = "|u1",  [DTYPE_I8] = "|i1",  [DTYPE_U16] = "<u2", [DTYPE_I16] = "<i2",  [DTYPE_U32] = "<u4",
    [DTYPE_I32] = "<i4", [DTYPE_U64] = "<u8", [DTYPE_I64] = "<i8", [DTYPE_C64] = "<c8",  [DTYPE_C128] = "<c16"};

static const char *description_of(enum dtype dtype)
{
    return descriptions[dtype] ? descriptions[dtype] : "|V1";
}

bool npy_write(const char *path, const struct tensor_value *value, struct error *error)
{
    TEXT(header);
    struct file_writer writer;
    if (!file_writer_open(&writer, path, error))
        return false;
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", description_of(value->type.dtype));
    for (int i = 0; i < value->type.rank; i++)
        text_printf(&header, "%" PRId64 ",", value->type.dim[i]);
    text_add(&header, "), }");
    while ((header.count + 11) % 64)
        text_add(&header, " ");
    text_add(&header, "\n");
    const uint8_t start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, header.count & 0xff, (uint8_t)(header.count >> 8)};
    file_write(&writer, start, sizeof start);
    file_write(&writer, header.chars, header.count);
    file_write(&writer, value->data, type_bytes(&value->type));
    return file_writer_commit(&writer, error);
}

// --- the header ------------------------------------------------------------------------------------------------------

struct header {
    char description[16];
    bool is_fortran;
    int rank;
    int64_t dim[MAX_RANK];
};
struct scanner {
    const char *at, *end;
};

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n'))
        s->at++;
}

static bool take(struct scanner *s, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool take_quoted(struct scanner *s, char *ret_text, size_t size)
{
    size_t n = 0;
    skip_blanks(s);
    char quote = s->at < s->end ? *s->at : '\0';
    if (quote != '\'' && quote != '"')
        return false;
    for (s->at++; s->at < s->end && *s->at != quote; s->at++) {
        if (n + 1 == size)
            return false;
        ret_text[n++] = *s->at;
    }
    ret_text[n] = '\0';
    return take(s, quote == '"' ? "\"" : "'");
}

static bool take_number(struct scanner *s, int64_t *ret_number)
{
    int64_t number = 0;
    const char *begin;
    skip_blanks(s);
    for (begin = s->at; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++) {
        number = number * 10 + (*s->at - '0');
        if (number > MAX_ELEMENTS)
            return false;
    }
    *ret_number = number;
    return s->at > begin;
}

static bool take_shape(struct scanner *s, struct header *h)
{
    if (!take(s, "("))
        return false;
    for (h->rank = 0; !take(s, ")"); h->rank++)
        if (h->rank == MAX_RANK || !take_number(s, &h->dim[h->rank]) || (!take(s, ",") && h->rank + 1 == MAX_RANK))
            return false;
    return true;
}

static bool take_entry(struct scanner *s, struct header *h)
{
    char key[16];
    if (!take_quoted(s, key, sizeof key) || !take(s, ":"))
        return false;
    if (strcmp(key, "descr") == 0)
        return take_quoted(s, h->description, sizeof h->description);
    if (strcmp(key, "shape") == 0)
        return take_shape(s, h);
    h->is_fortran = take(s, "True");
    return strcmp(key, "fortran_order") == 0 && (h->is_fortran || take(s, "False"));
}

static bool read_header(const char *text, size_t size, struct header *ret_header)
{
    struct scanner s = {text, text + size};
    *ret_header = (struct header){.rank = RANK_UNKNOWN};
    if (!take(&s, "{"))
        return false;
    while (!take(&s, "}"))
        if (!take_entry(&s, ret_header) || (!take(&s, ",") && s.at == s.end))
            return false;
    return ret_header->description[0] && ret_header->rank != RANK_UNKNOWN;
}

// --- reading ---------------------------------------------------------------------------------------------------------

// The place where the elements begin; 0: there is none.
static size_t find_elements(const uint8_t *bytes, size_t size, size_t *ret_header)
{
    if (size < LENGTH_AT + 4 || memcmp(bytes, MAGIC, strlen(MAGIC)) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return 0;
    size_t length = bytes[LENGTH_AT] | (size_t)bytes[LENGTH_AT + 1] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[LENGTH_AT + 2] << 16 | (size_t)bytes[LENGTH_AT + 3] << 24;
    *ret_header = LENGTH_AT + (bytes[6] > 1 ? 4 : 2);
    return length <= size - *ret_header ? *ret_header + length : 0;
}

static bool has_type(const struct header *h, const struct type *type)
{
    return strcmp(h->description, description_of(type->dtype)) == 0 && h->rank == type->rank &&
           (h->rank == 0 || memcmp(h->dim, type->dim, (size_t)h->rank * sizeof *h->dim) == 0);
}

static void add_type(struct text *out, const char *description, int rank, const int64_t *dim)
{
    enum dtype dtype = FIRST_OF(enum dtype, i, DTYPE_COUNT, strcmp(description_of(i), description) == 0);
    text_add_shown(out, dtype < DTYPE_COUNT ? dtype_name(dtype) : description);
    text_add(out, "[");
    for (int i = 0; i < rank; i++)
        text_printf(out, "%s%" PRId64, i ? ", " : "", dim[i]);
    text_add(out, "]");
}

static bool fail_with_types(const char *path, const char *what, const struct header *h, const struct type *type,
                            struct error *error)
{
    TEXT(text);
    add_type(&text, h->description, h->rank, h->dim);
    text_printf(&text, ", and %s takes ", what);
    add_type(&text, description_of(type->dtype), type->rank, type->dim);
    error_set(error, path, 0, 0, "holds %s", text.chars);
    return false;
}

void *npy_parse(const char *path, const char *what, const struct type *type, const void *bytes, size_t size,
                struct arena *arena, struct error *error)
{
    struct header h;
    size_t begin = 0, elements = find_elements(bytes, size, &begin), wanted = type_bytes(type);
    const char *first = bytes;
    if (!elements || !read_header(first + begin, elements - begin, &h))
        return error_set(error, path, 0, 0, "is no .npy file"), NULL;
    if (!has_type(&h, type))
        return fail_with_types(path, what, &h, type, error), NULL;
    if (h.is_fortran && h.rank > 1)
        return error_set(error, path, 0, 0, "is in Fortran's order; numpy.ascontiguousarray gives C's"), NULL;
    if (size - elements != wanted)
        return error_set(error, path, 0, 0, "has %zu bytes of elements, and its type has %zu", size - elements, wanted),
               NULL;
    return arena_copy(arena, first + elements, wanted, 64);
}

static void *read_elements(const char *path, const char *what, const struct type *type, struct arena *arena,
                           struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    return file_map_open(&map, path, error) ? npy_parse(path, what, type, map.bytes, map.size, arena, error) : NULL;
}

// --- inputs ----------------------------------------------------------------------------------------------------------

// NULL: error.
static const char *find_input(const char *folder, const char *name, size_t place, struct arena *arena,
                              struct error *error)
{
    char *by_name = arena_printf(arena, "%s/%s.npy", folder, name), *file = by_name + strlen(folder) + 1;
    for (char *c = file; *c; c++)
        *c = *c == '/' ? '_' : *c;
    char *by_place = arena_printf(arena, "%s/input_%zu.npy", folder, place);
    if (access(by_name, F_OK) == 0)
        return by_name;
    if (access(by_place, F_OK) == 0)
        return by_place;
    if (access(folder, F_OK) != 0)
        return error_set(error, folder, 0, 0, "there is no such folder of inputs"), NULL;
    return error_set(error, folder, 0, 0, "has neither %s nor input_%zu.npy", file, place), NULL;
}

bool npy_find_shape(const char *folder, const char *name, size_t place, struct type *ret_shape, struct arena *arena)
{
    struct error ignored;
    struct file_map map FREED_BY(file_map_close) = {0};
    struct header h;
    size_t begin = 0;
    const char *path = find_input(folder, name, place, arena, &ignored);
    if (!path || !file_map_open(&map, path, &ignored))
        return false;
    size_t elements = find_elements(map.bytes, map.size, &begin);
    bool is_found = elements && read_header((const char *)map.bytes + begin, elements - begin, &h);
    if (is_found)
        *ret_shape = type_make(DTYPE_F32, h.rank, h.dim);
    return is_found;
}

bool npy_read_inputs(const char *folder, const struct graph *g, const struct imported_value *inputs, size_t n,
                     struct tensor_value *ret_values, struct arena *arena, struct error *error)
{
    for (size_t i = 0; i < n; i++) {
        const struct type *type = graph_type(g, inputs[i].tensor);
        const char *path = find_input(folder, inputs[i].name, i, arena, error);
        struct tensor_value *value = &ret_values[graph_producer(g, inputs[i].tensor)->attributes[0].ints[0]];
        if (!path)
            return false;
        if (!type_is_known(type))
            return error_set_code(error, EXIT_USAGE, path, "is for input %s, whose size is not known; --shape gives it",
                                  inputs[i].name);
        value->type = *type;
        value->data = read_elements(path, arena_printf(arena, "input %s", inputs[i].name), type, arena, error);
        if (!value->data)
            return false;
    }
    return true;
}

const char **npy_list_shapes(const char *folder, const struct graph *g, const struct imported_value *inputs, size_t n,
                             struct arena *arena, size_t *ret_count)
{
    const char **shapes = arena_array(arena, const char *, n + 1);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct type shape;
        if (type_is_known(graph_type(g, inputs[i].tensor)) ||
            !npy_find_shape(folder, inputs[i].name, i, &shape, arena) || shape.rank == 0)
            continue;
        char *text = arena_printf(arena, "%s=%lld", inputs[i].name, (long long)shape.dim[0]);
        for (int k = 1; k < shape.rank; k++)
            text = arena_printf(arena, "%s,%lld", text, (long long)shape.dim[k]);
        shapes[count++] = text;
    }
    *ret_count = count;
    return shapes;
}
