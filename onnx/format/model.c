// The table of messages, lists of those of a type, strings, and the attributes of nodes by name.
#include "onnx/format/model.h"

#include <string.h>

// ---- the rows of all messages, of their table ----

#define ROW(of, number, kind, member, message, is_text)                                                                \
    {number, ONNX_FIELD_##kind, offsetof(struct onnx_##of, member), message, is_text},
#define ONNX_FIELD(of, number, kind, member) ROW(of, number, kind, member, NULL, false)
#define ONNX_TEXT(of, number, member) ROW(of, number, STRING, member, NULL, true)
#define ONNX_PART(of, number, kind, member, label) ROW(of, number, kind, member, &onnx_##label##_descriptor, false)
#define ONNX_OTHER(type, member)
#define ONNX_MESSAGE(label, proto, bits, ...)                                                                          \
    static const struct onnx_field label##_rows[] = {__VA_ARGS__};                                                     \
    const struct onnx_descriptor onnx_##label##_descriptor = {proto, sizeof(struct onnx_##label), label##_rows,        \
                                                              sizeof label##_rows / sizeof *label##_rows, (bits)};
#include "onnx/format/messages.def"

const struct onnx_field *onnx_find_field(const struct onnx_descriptor *d, uint32_t number)
{
    return FIND(d->fields, d->field_count, field, field->number == number);
}

// ---- lists of messages, strings, and attributes by name ----

static void list_in_field(const struct onnx_field *f, const char *message, const struct onnx_descriptor *wanted,
                          message_list *list)
{
    struct onnx_list children = {0};
    void *child;
    if (f->kind == ONNX_FIELD_MESSAGES)
        children = *(const struct onnx_list *)(message + f->offset);
    else if (f->kind == ONNX_FIELD_MESSAGE) {
        memcpy(&child, message + f->offset, sizeof child);
        children = (struct onnx_list){&child, child != NULL};
    }
    for (size_t i = 0; i < children.count; i++)
        onnx_list_messages(f->message, children.items[i], wanted, list);
}

void onnx_list_messages(const struct onnx_descriptor *d, const void *message, const struct onnx_descriptor *wanted,
                        message_list *list)
{
    if (d == wanted)
        vec_push(list, (void *)(uintptr_t)message);
    for (size_t i = 0; i < d->field_count; i++)
        list_in_field(&d->fields[i], message, wanted, list);
}

bool onnx_string_is(const struct onnx_string *s, const char *text)
{
    return s->size == strlen(text) && (s->size == 0 || memcmp(s->text, text, s->size) == 0);
}

bool onnx_string_equal(const struct onnx_string *a, const struct onnx_string *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

const struct onnx_string *onnx_symbol(const struct onnx_dimension *d)
{
    static const struct onnx_string none = {.text = ""};
    return onnx_string_is(&d->symbol, "?") ? &none : &d->symbol;
}

bool onnx_bytes_are(const struct onnx_bytes *b, const char *text)
{
    return b->size == strlen(text) && (b->size == 0 || memcmp(b->at, text, b->size) == 0);
}

bool onnx_graph_initializes(const struct onnx_graph *g, const struct onnx_string *name)
{
    return ONNX_FIND(struct onnx_tensor, t, &g->initializers, onnx_string_equal(&t->name, name));
}

const char *onnx_domain(const struct onnx_string *domain)
{
    return domain->size == 0 || onnx_string_is(domain, "ai.onnx") ? "" : domain->text;
}

int64_t onnx_version(const struct onnx_list *opsets, const char *domain)
{
    const struct onnx_opset *opset =
        ONNX_FIND(struct onnx_opset, o, opsets, strcmp(onnx_domain(&o->domain), domain) == 0);
    return opset ? opset->version : 0;
}

const struct onnx_function *onnx_function_called_by(const struct onnx_model *m, const struct onnx_node *n)
{
    return ONNX_FIND(struct onnx_function, f, &m->functions,
                     onnx_string_equal(&f->name, &n->op_type) && onnx_string_equal(&f->overload, &n->overload) &&
                         strcmp(onnx_domain(&f->domain), onnx_domain(&n->domain)) == 0);
}

const struct onnx_attribute *onnx_node_find(const struct onnx_node *n, const char *name)
{
    return ONNX_FIND(struct onnx_attribute, a, &n->attributes, onnx_string_is(&a->name, name));
}

bool onnx_node_has_standard_domain(const struct onnx_node *n)
{
    return *onnx_domain(&n->domain) == '\0';
}

bool onnx_words_have(const char *words, const char *name)
{
    for (size_t length, wanted = strlen(name); *words; words += length + strspn(words + length, " ")) {
        length = strcspn(words, " ");
        if (length == wanted && memcmp(words, name, length) == 0)
            return true;
    }
    return false;
}

bool onnx_node_is(const struct onnx_node *n, const char *names)
{
    return onnx_node_has_standard_domain(n) && onnx_words_have(names, n->op_type.text);
}
