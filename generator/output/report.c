// The comment at the head of a rule file, and the table of counts.
#include "generator/output/report.h"

#include "core/text/text.h"
#include <inttypes.h>

void report_header(struct text *out, const struct checkpoint_header *h, const struct candidates *c, bool only_minimal)
{
    size_t derivable = COUNT(size_t, i, c->rules.count, c->rules.items[i].is_derivable);
    uint64_t unconfirmed = 0;
    text_printf(out, "; Substitutions found by taso-gen %s%s, not proved yet.\n", h->version,
                only_minimal ? ": a set that derives the others" : "");
    text_printf(out, "; space %s (%016" PRIx64 "), families %s, operators %s\n", h->space_name,
                hash_string(h->space_text), h->families[0] ? h->families : "all", h->with[0] ? h->with : "all");
    text_printf(out, "; at most %" PRId64 " operators, shortcuts from at most %" PRId64 ", seed %" PRId64 "\n",
                h->max_ops, h->shortcuts, h->seed);
    text_printf(out, "; %zu rules, %zu of them derivable from the others\n", c->rules.count, derivable);
    for (size_t i = 0; i < c->counts.count; i++)
        unconfirmed += c->counts.items[i].classes.unconfirmed;
    if (unconfirmed)
        text_printf(out, "; terms of equal fingerprints and other values: %" PRIu64 "\n", unconfirmed);
    text_add(out, "\n");
}

// Four, or as many as some family was enumerated to.
static int count_levels(const struct candidates *c)
{
    int levels = 4;
    for (size_t i = 0; i < c->counts.count; i++)
        while (levels < MAX_OPS && c->counts.items[i].terms[levels + 1])
            levels++;
    return levels;
}

static void add_heads(struct text *out, int levels)
{
    text_add(out, "| family | terms of 1");
    for (int level = 2; level <= levels; level++)
        text_printf(out, " | %d%s", level, level == levels ? " operators" : "");
    text_add(out, " | classes | equal pairs | without renamings | without detours | false at other sizes | "
                  "false on reals | two outputs | minimal | rules |\n|---");
    for (int column = 0; column < levels + 9; column++)
        text_add(out, "|--:");
    text_add(out, "|\n");
}

void report_counts(struct text *out, const struct candidates *c)
{
    int levels = count_levels(c);
    add_heads(out, levels);
    vec_each(&c->counts, f) {
        uint64_t renamed = f->classes.pairs - f->classes.renamed;
        text_printf(out, "| %s", f->family);
        for (int level = 1; level <= levels; level++)
            text_printf(out, " | %" PRIu64, f->terms[level]);
        text_printf(out,
                    " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
                    " | %" PRIu64 " | %" PRIu64 " |\n",
                    f->classes.classes, f->classes.pairs, renamed, renamed - f->classes.detours, f->reduced.false_sizes,
                    f->reduced.false_reals, f->joined - f->joined_pruned, f->minimal, f->rules);
    }
}
