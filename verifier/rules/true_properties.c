// Those that ship cost a comparison each, so that only an author's own are judged.
#include "verifier/rules/true_properties.h"

#include "core/text/log.h"
#include "properties/shipped_properties.h"
#include "substitutions/pattern.h"
#include "verifier/direct_proof/judge.h"
#include "verifier/rules/validation_cache.h"

struct validation {
    struct arena arena;
    struct property_set shipped;
    struct known_results known;
    struct judge judge;
    const struct log *log;
};

static void validation_begin(struct validation *v, const struct log *log)
{
    arena_init(&v->arena);
    shipped_properties_read(&v->shipped, &v->arena);
    known_load(&v->known);
    judge_init(&v->judge);
    v->log = log;
}

static void validation_end(struct validation *v)
{
    judge_free(&v->judge);
    known_free(&v->known);
    property_set_free(&v->shipped);
    arena_free(&v->arena);
}

static bool is_proved_now(struct validation *v, const struct property *p)
{
    struct judgement result;
    struct equation eq = equation_of_property(p);
    judge_equation(&v->judge, &eq, &result);
    bool is_proved = result.verdict == VERDICT_PROVED;
    if (!is_proved)
        log_warning(v->log, "%s:%u:%u: no proof rests on %s, which is %s: see taso-verify properties", p->file, p->line,
                    p->column, p->name, verdict_name(result.verdict));
    judgement_free(&result);
    return is_proved;
}

void true_properties_keep(struct property_set *set, const struct log *log)
{
    struct validation v;
    size_t n_kept = 0;
    validation_begin(&v, log);
    for (size_t i = 0; i < set->properties.count; i++) {
        struct property *p = set->properties.items[i];
        if (shipped_properties_have(&v.shipped, p) || known_has(&v.known, p) || is_proved_now(&v, p))
            set->properties.items[n_kept++] = p;
        else
            pattern_free(&p->pattern);
    }
    set->properties.count = n_kept;
    validation_end(&v);
}
