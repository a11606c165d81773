// A derivation's results, for people.
#include "derivation/search/report.h"

#include "core/text/text.h"
#include "derivation/programs/cost.h"
#include "expressions/definition_print.h"

static bool is_standard(const struct attribute *attribute, const struct attribute_value *value)
{
    return value->count == 0 || (attribute->kind == ATTRIBUTE_CHOICE && value->ints[0] == attribute->standard) ||
           (attribute->kind == ATTRIBUTE_INT && value->ints[0] == attribute->standard);
}

static void print_attributes(struct text *out, const struct application *a)
{
    for (int i = 0; i < operator_n_attributes(a->op); i++)
        if (!is_standard(&a->op->attributes[i], &a->attributes[i])) {
            text_printf(out, " :%s ", a->op->attributes[i].name);
            attribute_print(out, &a->op->attributes[i], &a->attributes[i]);
        }
}

// "matmul (f32 54 5) (f32 5 49)", with the attributes that are not standard: " :stride 2 2".
static void print_application(struct text *out, const struct derivation *dv, const struct application *a)
{
    text_add(out, a->op->name);
    for (int i = 0; i < OPERANDS; i++) {
        text_add(out, " ");
        type_print(out, definition_tensor(&dv->all.pool.d, a->operands[i]));
    }
    print_attributes(out, a);
}

void applications_print(struct text *out, struct derivation *dv, int program)
{
    struct tensor_list tensors;
    size_t before = out->count;
    program_tensors(dv, program, &tensors);
    for (int i = 0; i < tensors.n; i++) {
        const struct application *a = derivation_application(dv, tensors.items[i]);
        if (a && !depends_on_weights_alone(dv, a->result)) {
            text_add(out, out->count > before ? "; " : "");
            print_application(out, dv, a);
        }
    }
}

static void print_role(struct text *out, struct derivation *dv, int tensor)
{
    const struct application *a = derivation_application(dv, tensor);
    if (a)
        print_application(out, dv, a);
    else
        text_add(out, depends_on_weights_alone(dv, tensor) ? "of weights alone"
                      : is_view(&dv->all.pool, tensor)     ? "a view"
                                                           : "an eOperator");
}

void program_print(struct text *out, struct derivation *dv, int program)
{
    struct definition d;
    struct tensor_list tensors;
    program_tensors(dv, program, &tensors);
    composition_extract(&dv->all, program, &d);
    definition_print_typed(out, &d);
    definition_free(&d);
    for (int i = 0; i < tensors.n; i++) {
        if (i + 1 < tensors.n)
            text_printf(out, "t%d is ", i);
        else
            text_add(out, "z is ");
        print_role(out, dv, tensors.items[i]);
        text_add(out, "\n");
    }
}

void search_print_path(struct text *out, const struct search *s, int state)
{
    const struct search_state *at = &s->states.items[state];
    if (at->before < 0)
        return;
    search_print_path(out, s, at->before);
    text_printf(out, "%s%s", s->states.items[at->before].before < 0 ? "" : ", ", derivation_rule_name(at->rule));
}

void search_print_counters(struct text *out, const struct search *s)
{
    const struct search_counters *c = &s->counters;
    text_printf(out, "%zu states of %zu steps, %zu of which led to known ones; %zu programs of %zu scopes matched\n",
                s->states.count, c->n_steps, c->n_known, s->results.count, c->n_matched);
    for (int rule = 0; rule < RULE_COUNT; rule++)
        if (c->n_by_rule[rule])
            text_printf(out, "  %s: %zu\n", derivation_rule_name((enum derivation_rule)rule), c->n_by_rule[rule]);
}
