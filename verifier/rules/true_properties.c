// Properties that ship cost a comparison each, so that only an author's own are judged.
#include "verifier/rules/true_properties.h"

#include "core/text/log.h"
#include "properties/shipped_properties.h"
#include "substitutions/pattern.h"
#include "verifier/rules/property_verdict.h"
#include "verifier/symbolic_proof/symbolic.h"
#include "verifier/testing/judge.h"

struct validation {
    struct arena arena;
    struct property_set shipped;
    struct judge judge;
    struct symbolic_prover symbols;
    const struct log *log;
};

static void validation_begin(struct validation *v, const struct log *log)
{
    arena_init(&v->arena);
    shipped_properties_read(&v->shipped, &v->arena);
    judge_init(&v->judge);
    symbolic_prover_init(&v->symbols);
    v->log = log;
}

static void validation_end(struct validation *v)
{
    symbolic_prover_free(&v->symbols);
    judge_free(&v->judge);
    property_set_free(&v->shipped);
    arena_free(&v->arena);
}

static bool is_good_now(struct validation *v, const struct property *p)
{
    struct judgement tested;
    struct equation eq = equation_of_property(p);
    judge_equation(&v->judge, &eq, &tested);
    struct property_verdict verdict FREED_BY(property_verdict_free) = property_verdict_find(p, &tested, &v->symbols);
    bool is_good = property_verdict_is_good(&verdict);
    if (!is_good)
        log_warning(v->log, "%s:%u:%u: no proof rests on %s, which is %s: see taso-verify properties", p->file, p->line,
                    p->column, p->name, property_standing_name(verdict.standing));
    return is_good;
}

void true_properties_keep(struct property_set *set, const struct log *log)
{
    struct validation v FREED_BY(validation_end);
    size_t n_kept = 0;
    validation_begin(&v, log);
    for (size_t i = 0; i < set->properties.count; i++) {
        struct property *p = set->properties.items[i];
        if (shipped_properties_have(&v.shipped, p) || is_good_now(&v, p))
            set->properties.items[n_kept++] = p;
        else
            pattern_free(&p->pattern);
    }
    set->properties.count = n_kept;
}
