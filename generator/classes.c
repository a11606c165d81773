#include "generator/classes.h"

#include "core/clock.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "generator/class.h"
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void findings_free(struct findings *f)
{
    vec_free(&f->members);
}

static void add_counts(struct class_counts *sum, const struct class_counts *part)
{
    sum->terms += part->terms;
    sum->classes += part->classes;
    sum->pairs += part->pairs;
    sum->renamed += part->renamed;
    sum->detours += part->detours;
    sum->unconfirmed += part->unconfirmed;
}

void findings_add(struct findings *sum, const struct findings *part)
{
    add_counts(&sum->counts, &part->counts);
    for (size_t i = 0; i < part->members.count; i++) {
        struct found_member m = part->members.items[i];
        m.class += sum->n_classes;
        vec_push(&sum->members, m);
    }
    sum->n_classes += part->n_classes;
}

// --- counting --------------------------------------------------------------------------------------------------------

static void count_one(void *context, const struct combination *c)
{
    uint64_t *count = context;
    *count += (uint64_t)c->signature->n_outputs;
}

void classes_count_terms(const struct store *s, uint64_t ret_counts[MAX_OPS + 1])
{
    memset(ret_counts, 0, (MAX_OPS + 1) * sizeof *ret_counts);
    for (size_t i = 0; i < s->tensors.count; i++)
        ret_counts[s->tensors.items[i].level]++;
    uint64_t last = 0;
#pragma omp parallel reduction(+ : last)
    {
        struct lookup l;
        lookup_init(&l, s->universe);
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < s->tensors.count; i++)
            store_visit(s, &l, s->max_ops, (uint32_t)i, count_one, &last);
        lookup_free(&l);
    }
    ret_counts[s->max_ops] += last;
}

// --- collecting ------------------------------------------------------------------------------------------------------

typedef VEC(struct member) member_list;

struct collector {
    const struct store *s;
    struct lookup lookup;
    int first, end;
    uint64_t evaluated;    // terms
    member_list *slices;   // end - first
};

static int slice_of(const struct hash128 *fingerprint)
{
    return (int)(fingerprint->high >> 54);
}

static void keep_member(struct collector *c, const struct member *m)
{
    int slice = slice_of(&m->fingerprint);
    if (slice >= c->first && slice < c->end)
        vec_push(&c->slices[slice - c->first], *m);
}

static void evaluate_application(void *context, const struct combination *c)
{
    struct collector *collector = context;
    const struct store *s = collector->s;
    struct arena *scratch = &collector->lookup.scratch;
    struct arena_mark mark = arena_mark(scratch);
    uint64_t *outputs[MAX_NODE_OUTPUTS];
    for (int i = 0; i < c->signature->n_outputs; i++)
        outputs[i] = arena_alloc(scratch, c->signature->outputs[i]->elements * sizeof(uint64_t), _Alignof(uint64_t));
    const uint64_t *b = c->arguments[1] == NO_TENSOR ? NULL : s->tensors.items[c->arguments[1]].data;
    collector->evaluated += (uint64_t)c->signature->n_outputs;
    lookup_evaluate(&collector->lookup, c->signature, s->tensors.items[c->arguments[0]].data, b, outputs);
    for (int i = 0; i < c->signature->n_outputs; i++) {
        struct member m = {fingerprint_of(c->signature->outputs[i], outputs[i], scratch),
                           {c->arguments[0], c->arguments[1]},
                           (uint16_t)c->instance,
                           (uint8_t)i};
        keep_member(collector, &m);
    }
    arena_release(scratch, mark);
}

static void keep_stored_tensor(struct collector *c, uint32_t i)
{
    const struct tensor *t = &c->s->tensors.items[i];
    struct member m = {t->fingerprint, {i, NO_TENSOR}, MEMBER_LEAF, 0};
    if (t->node != NO_NODE) {
        const struct node *n = &c->s->nodes.items[t->node];
        m = (struct member){t->fingerprint, {n->arguments[0], n->arguments[1]}, n->instance, t->output};
    }
    keep_member(c, &m);
}

// --- classes ---------------------------------------------------------------------------------------------------------

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->fingerprint.high != y->fingerprint.high)
        return x->fingerprint.high < y->fingerprint.high ? -1 : 1;
    if (x->fingerprint.low != y->fingerprint.low)
        return x->fingerprint.low < y->fingerprint.low ? -1 : 1;
    if (x->arguments[0] != y->arguments[0])
        return x->arguments[0] < y->arguments[0] ? -1 : 1;
    if (x->arguments[1] != y->arguments[1])
        return x->arguments[1] < y->arguments[1] ? -1 : 1;
    if (x->instance != y->instance)
        return x->instance < y->instance ? -1 : 1;
    return (int)x->output - (int)y->output;
}

static bool have_equal_fingerprints(const struct member *x, const struct member *y)
{
    return x->fingerprint.high == y->fingerprint.high && x->fingerprint.low == y->fingerprint.low;
}

static void judge_slice(const struct store *s, struct lookup *l, member_list *members, struct findings *f)
{
    vec_sort(members, compare_members);
    f->counts.terms += members->count;
    for (size_t first = 0, end; first < members->count; first = end) {
        for (end = first + 1; end < members->count; end++)
            if (!have_equal_fingerprints(&members->items[first], &members->items[end]))
                break;
        if (end - first > 1)
            class_keep(s, l, &members->items[first], end - first, f);
    }
}

static void gather_slice(struct collector *collectors, int n, int slice, member_list *ret_members)
{
    for (int i = 0; i < n; i++) {
        member_list *part = &collectors[i].slices[slice];
        vec_reserve(ret_members, ret_members->count + part->count);
        if (part->count)
            memcpy(ret_members->items + ret_members->count, part->items, part->count * sizeof *part->items);
        ret_members->count += part->count;
        vec_free(part);
    }
}

static void judge_slices(const struct store *s, struct collector *collectors, int n, int slices, struct findings *f)
{
    struct findings *parts = mem_alloc_zero((size_t)slices * sizeof *parts);
#pragma omp parallel
    {
        struct lookup l;
        lookup_init(&l, s->universe);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < slices; i++) {
            member_list members = {0};
            gather_slice(collectors, n, i, &members);
            if (!interrupt_requested())
                judge_slice(s, &l, &members, &parts[i]);
            vec_free(&members);
        }
        lookup_free(&l);
    }
    for (int i = 0; i < slices; i++) {
        findings_add(f, &parts[i]);
        findings_free(&parts[i]);
    }
    mem_free(parts, (size_t)slices * sizeof *parts);
}

static void show_progress(struct progress *progress, uint64_t done, uint64_t terms)
{
    double elapsed = clock_seconds() - progress->started;
    progress_update(progress, done, "%.2f million terms, %.2f million a second", 1e-6 * (double)terms,
                    elapsed > 0 ? 1e-6 * (double)terms / elapsed : 0.0);
}

static void collect_members(const struct store *s, struct collector *collectors, struct progress *progress)
{
    uint64_t done = 0, terms = 0;
#pragma omp parallel
    {
        struct collector *own = &collectors[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < s->tensors.count; i++) {
            uint64_t before = own->evaluated, done_now, terms_now;
            if (interrupt_requested())
                continue;
            keep_stored_tensor(own, (uint32_t)i);
            store_visit(s, &own->lookup, s->max_ops, (uint32_t)i, evaluate_application, own);
#pragma omp atomic capture
            done_now = ++done;
#pragma omp atomic capture
            terms_now = terms += own->evaluated - before;
            if (progress && omp_get_thread_num() == 0)
                show_progress(progress, done_now, terms_now);
        }
    }
}

bool classes_find(const struct store *s, int first, int end, struct progress *progress, struct findings *f)
{
    int n = omp_get_max_threads();
    struct collector *collectors = mem_alloc_zero((size_t)n * sizeof *collectors);
    size_t slices = (size_t)(end - first);
    for (int i = 0; i < n; i++) {
        collectors[i] = (struct collector){.s = s, .first = first, .end = end};
        lookup_init(&collectors[i].lookup, s->universe);
        collectors[i].slices = mem_alloc_zero(slices * sizeof *collectors[i].slices);
    }
    collect_members(s, collectors, progress);
    judge_slices(s, collectors, n, (int)slices, f);
    for (int i = 0; i < n; i++) {
        lookup_free(&collectors[i].lookup);
        for (size_t j = 0; j < slices; j++)
            vec_free(&collectors[i].slices[j]);
        mem_free(collectors[i].slices, slices * sizeof *collectors[i].slices);
    }
    mem_free(collectors, (size_t)n * sizeof *collectors);
    return !interrupt_requested();
}
