// Rules and properties judged from the operators' definitions, one after the other, as taso-verify judges them without
// Z3. The whole text is read before anything is judged.
#include "library/library.h"

#include "core/memory/memory.h"
#include "core/text/text.h"
#include "properties/property.h"
#include "verifier/rules/property_verdict.h"
#include "verifier/rules/prove.h"
#include "verifier/rules/rule_report.h"
#include "verifier/testing/judge.h"
#include <string.h>

#define TEXT_NAME "text"   // of what is given, in errors

struct taso_verdicts {
    struct arena arena;
    VEC(taso_verdict) items;
};

size_t taso_verdicts_count(const taso_verdicts *verdicts)
{
    return verdicts->items.count;
}

taso_verdict taso_verdicts_get(const taso_verdicts *verdicts, size_t index)
{
    return verdicts->items.items[index];
}

void taso_verdicts_free(taso_verdicts *verdicts)
{
    if (!verdicts)
        return;
    vec_free(&verdicts->items);
    arena_free(&verdicts->arena);
    mem_free(verdicts, sizeof *verdicts);
}

static bool wants_end(const taso_options *options)
{
    return options && options->progress && options->progress(options->context) != 0;
}

// Takes the texts, which are empty afterwards.
static void add_verdict(taso_verdicts *v, const char *name, const char *verdict, bool is_proved, struct text *reason,
                        struct text *text)
{
    taso_verdict added = {.name = arena_string(&v->arena, name), .verdict = verdict, .is_proved = is_proved};
    added.reason = arena_string(&v->arena, reason->count ? reason->chars : "");
    added.text = arena_string(&v->arena, text->count ? text->chars : "");
    vec_push(&v->items, added);
    text_free(reason);
    text_free(text);
}

// --- rules -----------------------------------------------------------------------------------------------------------

static void judge_rule(taso_verdicts *v, struct judge *judge, struct symbolic_prover *symbols, const struct rule *r)
{
    struct rule_report report FREED_BY(rule_report_free);
    struct text reason = {0}, text = {0};
    ARENA(arena);
    prove_rule(judge, NULL, symbols, r, &arena, &report);
    bool is_proved = rule_report_is_proved(&report);
    if (report.outcome != RULE_PROVED)
        rule_report_print_reason(&reason, &report);
    rule_print(&text, is_proved ? &report.proved : r);
    add_verdict(v, r->name, rule_outcome_name(report.outcome), is_proved, &reason, &text);
}

static bool judge_rules(taso_verdicts *v, struct judge *judge, struct symbolic_prover *symbols,
                        const taso_options *options, const char *text, struct error *error)
{
    struct rule_set set FREED_BY(rule_set_free);
    rule_set_init(&set, &v->arena);
    bool is_read = rule_set_parse(&set, TEXT_NAME, text, strlen(text), error);
    for (size_t i = 0; is_read && i < set.rules.count && !wants_end(options); i++)
        judge_rule(v, judge, symbols, set.rules.items[i]);
    return is_read;
}

// --- properties ------------------------------------------------------------------------------------------------------

static void judge_property(taso_verdicts *v, struct judge *judge, struct symbolic_prover *symbols,
                           const struct property *p)
{
    struct text reason = {0}, text = {0};
    struct property_verdict verdict FREED_BY(property_verdict_free) = property_verdict_find(p, judge, symbols);
    const struct text *counterexample = &property_verdict_counterexample(&verdict)->text;
    if (counterexample->count)
        text_add(&reason, counterexample->chars);
    property_print(&text, p);
    add_verdict(v, p->name, property_standing_name(verdict.standing), property_verdict_is_good(&verdict), &reason,
                &text);
}

static bool judge_properties(taso_verdicts *v, struct judge *judge, struct symbolic_prover *symbols,
                             const taso_options *options, const char *text, struct error *error)
{
    struct property_set set FREED_BY(property_set_free);
    property_set_init(&set, &v->arena);
    bool is_read = property_set_parse(&set, TEXT_NAME, text, strlen(text), error);
    for (size_t i = 0; is_read && i < set.properties.count && !wants_end(options); i++)
        judge_property(v, judge, symbols, set.properties.items[i]);
    return is_read;
}

// --- both ------------------------------------------------------------------------------------------------------------

typedef bool judge_fn(taso_verdicts *v, struct judge *judge, struct symbolic_prover *symbols,
                      const taso_options *options, const char *text, struct error *error);

static taso_status verify(judge_fn *judge_all, const taso_options *options, const char *text,
                          taso_verdicts **ret_verdicts, taso_error *ret_error)
{
    struct error error = {.code = EXIT_BAD_INPUT};
    struct judge judge;
    struct symbolic_prover symbols;
    if (!text || !ret_verdicts)
        return library_refuse(TASO_USAGE, ret_error, "a text and a place for the verdicts are needed");
    *ret_verdicts = mem_alloc_zero(sizeof(taso_verdicts));
    judge_init(&judge);
    symbolic_prover_init(&symbols);
    bool is_read = judge_all(*ret_verdicts, &judge, &symbols, options, text, &error);
    symbolic_prover_free(&symbols);
    judge_free(&judge);
    if (is_read)
        return TASO_DONE;
    taso_verdicts_free(*ret_verdicts);
    *ret_verdicts = NULL;
    return library_report_error(&error, ret_error);
}

taso_status taso_verify_rules(const taso_options *options, const char *text, taso_verdicts **ret_verdicts,
                              taso_error *ret_error)
{
    return verify(judge_rules, options, text, ret_verdicts, ret_error);
}

taso_status taso_verify_properties(const taso_options *options, const char *text, taso_verdicts **ret_verdicts,
                                   taso_error *ret_error)
{
    return verify(judge_properties, options, text, ret_verdicts, ret_error);
}
