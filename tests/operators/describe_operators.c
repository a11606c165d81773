// describe_operators FILE: prints docs/manual/operators.md from the table of operators and the example applications in
// FILE (typed_call.h), one for each operator that has a definition.
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "expressions/definition_print.h"
#include "graph/call_text.h"
#include "operators/traits.h"
#include "tests/operators/typed_call.h"
#include <stdio.h>

static const char introduction[] =
    "# Operators\n"
    "\n"
    "Written by `ninja -C build operators-page` from the table in `operators/` and the examples in\n"
    "`tests/operators/examples.calls`; a test compares. Every operator is given by its formula for an example:\n"
    "x0, x1, ... are the inputs, z is the output, t0, t1, ... are tensors in between; `[i or 0]` reads 0 outside of "
    "the\n"
    "tensor, `/` and `mod` round towards minus infinity on indices. An attribute with a standard value may be left "
    "out;\n"
    "a required integer stands first in the text of an application, without its name.\n";

// --- pieces ----------------------------------------------------------------------------------------------------------

static void describe_kind(struct text *out, const struct attribute *attribute)
{
    static const char *const kinds[] = {[ATTRIBUTE_INT] = "integer",
                                        [ATTRIBUTE_INTS] = "integers",
                                        [ATTRIBUTE_REAL] = "real",
                                        [ATTRIBUTE_DTYPE] = "element type"};
    if (attribute->kind != ATTRIBUTE_CHOICE) {
        text_add(out, kinds[attribute->kind]);
        return;
    }
    for (int i = 0; attribute->choices[i]; i++)
        text_printf(out, "%s%s", i ? " or " : "", attribute->choices[i]);
}

static void describe_standard(struct text *out, const struct attribute *attribute, const struct attribute_value *value)
{
    text_add(out, attribute->is_required ? "required" : attribute->kind == ATTRIBUTE_INTS ? "none" : "");
    if (!attribute->is_required && value->count)
        attribute_print(out, attribute, value);
}

static void describe_attributes(struct text *out, const struct operator* op, struct arena *a)
{
    struct attribute_value standard[MAX_ATTRIBUTES];
    operator_standard_attributes(op, a, standard);
    for (int i = 0; i < operator_n_attributes(op); i++) {
        const struct attribute *attribute = &op->attributes[i];
        text_printf(out, "%s`%s`: ", i ? "; " : "", attribute->name);
        describe_kind(out, attribute);
        text_add(out, attribute->is_required ? ", " : ", standard ");
        describe_standard(out, attribute, &standard[i]);
    }
}

// "(conv :stride 2 (f32 1 4 9) (f32 2 4 3))"
static void describe_call(struct text *out, const struct operator_call *call)
{
    call_text_print(out, call->op, -1, call->attributes);
    for (int i = 0; i < call->n_inputs; i++) {
        text_add(out, " ");
        type_print(out, &call->inputs[i]);
    }
    text_add(out, ")");
}

// With the attributes of the example, where it has others than the standard ones.
static void describe_in_a_row(struct text *out, const struct operator_call *call, const struct definition *d,
                              struct arena *a)
{
    const char *onnx = call->op->onnx ? call->op->onnx : "";
    TEXT(name);
    TEXT(formula);
    call_text_print(&name, call->op, -1, call->attributes);
    definition_print(&formula, d, NULL);
    text_printf(out, "| `%s` | %s | ", name.chars + 1, onnx);
    describe_attributes(out, call->op, a);
    text_printf(out, " | `%.*s` |\n", (int)formula.count - 1, formula.chars);
}

static void describe_in_a_section(struct text *out, const struct operator_call *call, const struct definition *d,
                                  struct arena *a)
{
    text_printf(out, "\n## %s\n\n%s.%s%s%s\n\n", call->op->name, call->op->summary, call->op->onnx ? " ONNX: " : "",
                call->op->onnx ? call->op->onnx : "", call->op->onnx ? "." : "");
    if (operator_n_attributes(call->op)) {
        describe_attributes(out, call->op, a);
        text_add(out, ".\n\n");
    }
    text_add(out, "```\n");
    describe_call(out, call);
    text_add(out, "\n");
    definition_print(out, d, NULL);
    text_add(out, "```\n");
}

// --- traits ----------------------------------------------------------------------------------------------------------

static const char about_traits[] =
    "\n## Traits\n"
    "\n"
    "What the definitions say of the operators, found when the program is built (`operators/traits.h`). Those after "
    "`act:`\n"
    "are the ones that it has with any activation. Proofs count on them; nobody writes them down.\n"
    "\n"
    "| operator | traits |\n|---|---|\n";

static void describe_set(struct text *out, unsigned traits)
{
    static const struct {
        unsigned trait;
        const char *name;
    } names[] = {{TRAIT_POLYNOMIAL, "polynomial"},
                 {TRAIT_SMOOTH, "smooth"},
                 {TRAIT_KEEPS_ZERO, "keeps zero"},
                 {TRAIT_ENTRY_BY_ENTRY, "entry by entry"},
                 {TRAIT_CONTRACTS, "contracts"},
                 {TRAIT_UNIFORM, "uniform"},
                 {TRAIT_KEEPS_RANK, "keeps rank"},
                 {TRAIT_KEEPS_FIRST_RANK, "keeps first rank"},
                 {TRAIT_ADDS, "adds"},
                 {TRAIT_SUBTRACTS, "subtracts"},
                 {TRAIT_SUMS, "sums"},
                 {TRAIT_CONVERTS, "converts"},
                 {TRAIT_ASKS_NUMBER, "asks whether a number"},
                 {TRAIT_DIVIDES, "divides"},
                 {TRAIT_PARTIAL, "partial"},
                 {TRAIT_IS_KERNEL, "kernel"},
                 {TRAIT_MULTIPLIES_MATRICES, "multiplies matrices"},
                 {TRAIT_IDEMPOTENT, "once for twice"},
                 {TRAIT_INVOLUTION, "its own inverse"},
                 {TRAIT_CHANGES_FORM, "changes form"}};
    const char *between = " ";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (traits & names[i].trait) {
            text_printf(out, "%s%s", between, names[i].name);
            between = ", ";
        }
}

static void describe_traits(struct text *out, const struct operator* op)
{
    const struct operator_traits *traits = &operator_traits[op->id];
    text_printf(out, "| `%s` |", op->name);
    describe_set(out, traits->plain);
    if (traits->activated != traits->plain) {
        text_add(out, "; act:");
        describe_set(out, traits->activated);
    }
    text_add(out, " |\n");
}

// --- the page --------------------------------------------------------------------------------------------------------

struct page {
    struct arena arena;
    struct operator_call calls[OP_COUNT];
    struct definition definitions[OP_COUNT];
};

static bool read_example(struct page *p, const struct sexp *s, const char *file, struct error *error)
{
    struct typed_call c;
    if (!typed_call_parse(&p->arena, s, file, &c, error))
        return false;
    enum operator_id id = c.call.op->id;
    if (p->calls[id].op)
        return sexp_error(error, file, s, "a second example of %s", c.call.op->name);
    p->calls[id] = c.call;
    definition_init(&p->definitions[id], &p->arena, c.call.n_inputs, c.call.inputs);
    if (!operator_define(&p->definitions[id], &c.call))
        return sexp_error(error, file, s, "%s", p->definitions[id].reason);
    return true;
}

static bool read_examples(struct page *p, const char *file, struct error *error)
{
    const struct sexp *list;
    if (!sexp_parse_file(&p->arena, file, &list, error))
        return false;
    for (size_t i = 0; i < list->count; i++)
        if (!read_example(p, &list->items[i], file, error))
            return false;
    for (int id = 0; id < operator_count(); id++)
        if (operators[id]->define && !p->calls[id].op)
            return error_set(error, file, 0, 0, "no example of %s", operators[id]->name);
    return true;
}

static void write_page(struct page *p, struct text *out)
{
    text_add(out, introduction);
    text_add(out, "\n## Element-wise\n\n| operator | ONNX | attributes | formula |\n|---|---|---|---|\n");
    for (int id = 0; id < operator_count(); id++)
        if (p->calls[id].op && operators[id]->flags & OPERATOR_IS_ELEMENTWISE)
            describe_in_a_row(out, &p->calls[id], &p->definitions[id], &p->arena);
    for (int id = 0; id < operator_count(); id++)
        if (p->calls[id].op && !(operators[id]->flags & OPERATOR_IS_ELEMENTWISE))
            describe_in_a_section(out, &p->calls[id], &p->definitions[id], &p->arena);
    text_add(out, about_traits);
    for (int id = 0; id < operator_count(); id++)
        if (p->calls[id].op)
            describe_traits(out, operators[id]);
}

int main(int argc, char **argv)
{
    static struct page page;
    struct error error;
    TEXT(out);
    if (argc != 2)
        return EXIT_USAGE;
    bool is_good = read_examples(&page, argv[1], &error);
    if (is_good) {
        write_page(&page, &out);
        fputs(out.chars, stdout);
    } else
        error_exit("describe_operators", &error);
    for (int id = 0; id < operator_count(); id++)
        definition_free(&page.definitions[id]);
    arena_free(&page.arena);
    return is_good ? EXIT_DONE : (int)error.code;
}
