// Sorts applications by fingerprint, slice by slice, and hands runs of equal ones to confirm_class.c.
#include "generator/enumerate/find_classes.h"

#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "generator/enumerate/confirm_class.h"
#include "generator/enumerate/fingerprint.h"
#include "generator/enumerate/inputs.h"
#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE_BITS = 10, CHUNK_MEMBERS = 63, MAX_CALL_BYTES = 1 << 23 };
static_assert(1 << SLICE_BITS == FINGERPRINT_SLICES, "slices are the leading bits of fingerprints");

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

static void findings_add(struct findings *sum, const struct findings *part)
{
    add_counts(&sum->counts, &part->counts);
    for (size_t i = 0; i < part->members.count; i++) {
        struct found_member m = part->members.items[i];
        m.class += sum->n_classes;
        vec_push(&sum->members, m);
    }
    sum->n_classes += part->n_classes;
}

void findings_move(struct findings *sum, struct findings *part)
{
    if (sum->members.count == 0 && sum->n_classes == 0) {
        struct class_counts counts = sum->counts;
        findings_free(sum);
        *sum = *part;
        add_counts(&sum->counts, &counts);
    } else {
        findings_add(sum, part);
        findings_free(part);
    }
    *part = (struct findings){0};
}

// --- counting --------------------------------------------------------------------------------------------------------

static void count_one(void *context, const struct combination *c)
{
    uint64_t *count = context;
    *count += (uint64_t)c->signature->n_outputs;
}

uint64_t classes_count_last_terms(const struct tensor_store *s)
{
    uint64_t last = 0;
#pragma omp parallel num_threads(s->family_types->threads) reduction(+ : last)
    {
        struct lookup l FREED_BY(lookup_free);
        lookup_init(&l, s->family_types);
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < s->tensors.count; i++)
            tensor_store_visit(s, &l, s->max_ops, (uint32_t)i, count_one, &last);
    }
    return last;
}

// --- collecting ------------------------------------------------------------------------------------------------------

// The members of a slice, in chunks: what is kept never moves, and nothing is reserved for much more.
struct chunk {
    struct chunk *next;
    int count;
    struct member members[CHUNK_MEMBERS];
};
struct collector {
    const struct tensor_store *s;
    struct lookup lookup;
    int first, end;
    uint64_t evaluated;      // terms
    struct chunk **slices;   // end - first
    struct arena chunks;
    VEC(uint64_t) results;   // of all applications to the arguments at hand
    VEC(uint64_t *) outputs;
    uint32_t support;   // of these arguments
    bool keeps_support;
    int n_below;
    struct hash128 below[MAX_OPS * MAX_NODE_OUTPUTS];   // of what these arguments are made of
};

static void keep_member(struct collector *c, const struct member *m)
{
    int slice = (int)(m->fingerprint.high >> (64 - SLICE_BITS));
    if (slice < c->first || slice >= c->end)
        return;
    struct chunk **chunk = &c->slices[slice - c->first];
    if (!*chunk || (*chunk)->count == CHUNK_MEMBERS) {
        struct chunk *added = arena_alloc(&c->chunks, sizeof *added, _Alignof(struct chunk));
        added->next = *chunk;
        added->count = 0;
        *chunk = added;
    }
    (*chunk)->members[(*chunk)->count++] = *m;
}

// Results stand one after the other, each with the room in front that its fingerprint takes.
static void make_room(struct collector *c, const struct applications *all)
{
    size_t n = 0, output = 0;
    for (uint32_t i = 0; i < all->count; i++)
        for (int k = 0; k < all->items[i].signature->n_outputs; k++)
            n += FINGERPRINT_ROOM + all->items[i].signature->outputs[k]->elements;
    vec_reserve(&c->results, n);
    vec_reserve(&c->outputs, all->n_outputs);
    n = 0;
    for (uint32_t i = 0; i < all->count; i++)
        for (int k = 0; k < all->items[i].signature->n_outputs; k++) {
            c->outputs.items[output++] = c->results.items + n + FINGERPRINT_ROOM;
            n += FINGERPRINT_ROOM + all->items[i].signature->outputs[k]->elements;
        }
}

static void find_values_below(struct collector *c, const uint32_t *arguments)
{
    const struct tensor_store *s = c->s;
    uint32_t closure[MAX_OPS];
    int n = tensor_store_closure_of(s, arguments, closure);
    c->n_below = 0;
    for (int i = 0; i < n; i++) {
        const struct node *node = &s->nodes.items[closure[i]];
        for (uint32_t t = node->first_tensor; t < node->first_tensor + node->n_outputs; t++)
            c->below[c->n_below++] = s->tensors.items[t].fingerprint;
    }
}

static bool is_value_below(const struct collector *c, const struct hash128 *fingerprint)
{
    return ANY(int, i, c->n_below, c->below[i].high == fingerprint->high && c->below[i].low == fingerprint->low);
}

// The first application to some arguments evaluates them all.
static void evaluate_application(void *context, const struct combination *c)
{
    struct collector *collector = context;
    const struct tensor_store *s = collector->s;
    if (c->place == 0) {
        const uint64_t *b = c->arguments[1] == NO_TENSOR ? NULL : s->tensors.items[c->arguments[1]].data;
        make_room(collector, c->all);
        collector->support = tensor_store_support_of(s, c->arguments);
        collector->keeps_support = tensor_store_keeps_support(s, c->arguments);
        find_values_below(collector, c->arguments);
        lookup_evaluate_all(&collector->lookup, c->all, s->tensors.items[c->arguments[0]].data, b,
                            collector->outputs.items);
    }
    collector->evaluated += (uint64_t)c->signature->n_outputs;
    for (int i = 0; i < c->signature->n_outputs; i++) {
        uint64_t *output = collector->outputs.items[c->all->items[c->place].first_output + (uint32_t)i];
        struct member m = {.fingerprint = fingerprint_in_place(c->signature->outputs[i], output),
                           .arguments = {c->arguments[0], c->arguments[1]},
                           .support = collector->support,
                           .instance = (uint16_t)c->instance,
                           .output = (uint8_t)i,
                           .level = (uint8_t)s->max_ops & 15,
                           .has_exact_support = collector->keeps_support && c->signature->n_outputs == 1};
        m.is_detour = is_value_below(collector, &m.fingerprint);
        keep_member(collector, &m);
    }
}

static void keep_stored_tensor(struct collector *c, uint32_t i)
{
    const struct tensor *t = &c->s->tensors.items[i];
    struct member m = {.fingerprint = t->fingerprint,
                       .arguments = {i, NO_TENSOR},
                       .support = t->support,
                       .instance = MEMBER_LEAF,
                       .output = t->output,
                       .level = t->level & 15,
                       .has_exact_support = true};
    if (t->node != NO_NODE) {
        const struct node *n = &c->s->nodes.items[t->node];
        memcpy(m.arguments, n->arguments, sizeof m.arguments);
        m.instance = n->instance;
        find_values_below(c, n->arguments);
        m.is_detour = is_value_below(c, &t->fingerprint);
    }
    keep_member(c, &m);
}

// --- classes ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_members, struct member,
           ORDER(x->fingerprint.high, y->fingerprint.high) ?: ORDER(x->fingerprint.low, y->fingerprint.low) ?:
           ORDER(x->arguments[0], y->arguments[0]) ?: ORDER(x->arguments[1], y->arguments[1]) ?:
           ORDER(x->instance, y->instance) ?: ORDER(x->output, y->output))

static bool have_equal_fingerprints(const struct member *x, const struct member *y)
{
    return x->fingerprint.high == y->fingerprint.high && x->fingerprint.low == y->fingerprint.low;
}

// The members of a slice, in order.
struct sorted {
    struct member *members;
    size_t count;
};

static struct sorted sort_slice(struct collector *collectors, int n, int slice, struct arena *arena)
{
    struct sorted s = {0};
    size_t all = 0;
    for (int i = 0; i < n; i++)
        for (const struct chunk *c = collectors[i].slices[slice]; c; c = c->next)
            all += (size_t)c->count;
    s.members = arena_alloc(arena, all * sizeof *s.members + 1, _Alignof(struct member));
    for (int i = 0; i < n; i++)
        for (const struct chunk *c = collectors[i].slices[slice]; c; s.count += (size_t)c->count, c = c->next)
            memcpy(&s.members[s.count], c->members, (size_t)c->count * sizeof *s.members);
    if (s.count)
        qsort(s.members, s.count, sizeof *s.members, compare_members);
    return s;
}

static void judge_slice(const struct tensor_store *s, struct lookup *l, struct evaluation_cache *calls,
                        const struct sorted *sorted, struct findings *f)
{
    for (size_t i = 0; i < sorted->count; i++)
        if (inputs_are_first(s->family, sorted->members[i].support))
            f->counts.terms += inputs_count_alike(s->family, sorted->members[i].support, 0);
    for (size_t first = 0, end; first < sorted->count; first = end) {
        for (end = first + 1; end < sorted->count; end++)
            if (!have_equal_fingerprints(&sorted->members[first], &sorted->members[end]))
                break;
        if (end - first > 1)
            class_confirm(s, l, calls, &sorted->members[first], end - first, f);
    }
}

static void judge_slices(const struct tensor_store *s, struct collector *collectors, int n, int slices,
                         struct findings *f)
{
    struct findings *parts = mem_alloc_zero((size_t)slices * sizeof *parts);
#pragma omp parallel num_threads(s->family_types->threads)
    {
        struct lookup l FREED_BY(lookup_free);
        struct evaluation_cache calls FREED_BY(evaluation_cache_free);
        ARENA(arena);
        lookup_init(&l, s->family_types);
        evaluation_cache_init(&calls, s->family_types->seed + 1, MAX_CALL_BYTES);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < slices; i++) {
            ARENA_MARK(mark, &arena);
            struct sorted sorted = sort_slice(collectors, n, i, &arena);
            if (!interrupt_requested())
                judge_slice(s, &l, &calls, &sorted, &parts[i]);
        }
    }
    size_t members = f->members.count;
    for (int i = 0; i < slices; i++)
        members += parts[i].members.count;
    vec_reserve(&f->members, members);
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

static void collect_members(const struct tensor_store *s, struct collector *collectors, struct progress *progress)
{
    uint64_t done = 0, terms = 0;
#pragma omp parallel num_threads(s->family_types->threads)
    {
        struct collector *own = &collectors[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < s->tensors.count; i++) {
            uint64_t before = own->evaluated, done_now, terms_now;
            if (interrupt_requested())
                continue;
            keep_stored_tensor(own, (uint32_t)i);
            tensor_store_visit(s, &own->lookup, s->max_ops, (uint32_t)i, evaluate_application, own);
#pragma omp atomic capture
            done_now = ++done;
#pragma omp atomic capture
            terms_now = terms += own->evaluated - before;
            if (progress && omp_get_thread_num() == 0)
                show_progress(progress, done_now, terms_now);
        }
    }
}

bool findings_collect(const struct tensor_store *s, int first, int end, struct progress *progress, struct findings *f)
{
    int n = s->family_types->threads;
    struct collector *collectors = mem_alloc_zero((size_t)n * sizeof *collectors);
    size_t slices = (size_t)(end - first);
    for (int i = 0; i < n; i++) {
        collectors[i] = (struct collector){.s = s, .first = first, .end = end};
        lookup_init(&collectors[i].lookup, s->family_types);
        collectors[i].slices = mem_alloc_zero(slices * sizeof *collectors[i].slices);
    }
    collect_members(s, collectors, progress);
    judge_slices(s, collectors, n, (int)slices, f);
    for (int i = 0; i < n; i++) {
        lookup_free(&collectors[i].lookup);
        arena_free(&collectors[i].chunks);
        vec_free(&collectors[i].results);
        vec_free(&collectors[i].outputs);
        mem_free(collectors[i].slices, slices * sizeof *collectors[i].slices);
    }
    mem_free(collectors, (size_t)n * sizeof *collectors);
    return !interrupt_requested();
}
