// Polynomials as text.
#include "core/text/text.h"
#include "verifier/polynomials/ring.h"
#include <inttypes.h>

struct printer {
    struct text *out;
    const struct polynomial_pool *p;
    void (*print_variable)(struct text *out, const void *context, uint32_t number);
    const void *context;
};

static void print_polynomial(const struct printer *to, polynomial a);

static void print_call(const struct printer *to, const char *name, const polynomial *operands, uint32_t n)
{
    text_printf(to->out, "%s(", name);
    for (uint32_t i = 0; i < n; i++) {
        text_add(to->out, i ? ", " : "");
        print_polynomial(to, operands[i]);
    }
    text_add(to->out, ")");
}

static void print_atom(const struct printer *to, uint32_t id)
{
    const struct polynomial_atom *atom = &to->p->atoms.items[id];
    polynomial operands[3] = {atom->a, atom->b, atom->c};
    switch ((enum atom_kind)atom->kind) {
    case ATOM_VARIABLE:
        to->print_variable(to->out, to->context, atom->a);
        break;
    case ATOM_FUNCTION:
        print_call(to, function_name((enum scalar_function)atom->fn), operands,
                   (uint32_t)function_arity((enum scalar_function)atom->fn));
        break;
    case ATOM_MAXIMUM:
        print_call(to, "max", to->p->sets.items + atom->a, atom->b);
        break;
    case ATOM_REAL:
        text_add_real(to->out, atom->real);
        break;
    case ATOM_LIMIT:
        text_add(to->out, atom->a ? "highest" : "lowest");
        break;
    }
}

static void print_term(const struct printer *to, const struct polynomial_term *t, bool is_first)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&to->p->monomials, t->monomial, factors);
    int64_t size = t->numerator < 0 ? -t->numerator : t->numerator;
    text_add(to->out, t->numerator < 0 ? (is_first ? "-" : " - ") : (is_first ? "" : " + "));
    bool has_coefficient = size != 1 || t->denominator != 1 || n == 0;
    if (has_coefficient)
        text_printf(to->out, "%" PRId64, size);
    if (t->denominator != 1)
        text_printf(to->out, "/%" PRId64, t->denominator);
    for (uint32_t i = 0; i < n; i++) {
        text_add(to->out, i || has_coefficient ? " " : "");
        print_atom(to, factors[i]);
    }
}

static void print_polynomial(const struct printer *to, polynomial a)
{
    struct term_list x = polynomial_terms(to->p, a);
    if (x.count == 0)
        text_add(to->out, "0");
    for (uint32_t i = 0; i < x.count; i++)
        print_term(to, &x.items[i], i == 0);
}

void polynomial_print(struct text *out, const struct polynomial_pool *p, polynomial a,
                      void (*print_variable)(struct text *out, const void *context, uint32_t number),
                      const void *context)
{
    struct printer to = {out, p, print_variable, context};
    print_polynomial(&to, a);
}
