// A binary heap of candidates by cost; the costlier half goes when memory is short.
#include "optimizer/search/backtracking/queue.h"

#include "core/memory/heap.h"
#include <string.h>

// A candidate is one block: the struct, then the integers of its attribute variables.
static size_t n_attribute_ints(const struct match *m)
{
    size_t n = 0;
    for (uint32_t v = 0; v < m->rule->pattern.n_attribute_variables; v++)
        if (m->attributes[v].count != UINT32_MAX)
            n += m->attributes[v].count;
    return n;
}

static size_t candidate_size(const struct match *m)
{
    return sizeof(struct candidate) + n_attribute_ints(m) * sizeof(int64_t);
}

static struct candidate *copy_candidate(const struct candidate *c)
{
    struct candidate *copy = mem_alloc(candidate_size(&c->match));
    int64_t *ints = (int64_t *)(copy + 1);
    *copy = *c;
    EACH(copy->match.attributes, c->match.rule->pattern.n_attribute_variables, value) {
        if (value->count == UINT32_MAX || value->count == 0)
            continue;
        memcpy(ints, value->ints, value->count * sizeof *ints);
        value->ints = ints;
        ints += value->count;
    }
    return copy;
}

void candidate_free(struct candidate *c)
{
    mem_free(c, candidate_size(&c->match));
}

void queue_free(struct queue *q)
{
    for (size_t i = 0; i < q->heap.count; i++)
        candidate_free(q->heap.items[i]);
    vec_free(&q->heap);
}

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct candidate *x = *(struct candidate *const *)a, *y = *(struct candidate *const *)b;
    return x->seconds < y->seconds || (x->seconds == y->seconds && x->number < y->number);
}

static int compare_candidates(const void *a, const void *b)
{
    return is_before(NULL, a, b) ? -1 : is_before(NULL, b, a);
}

// A sorted array is a heap, so the cheaper half can stay as it is.
void queue_drop_costlier_half(struct queue *q)
{
    size_t kept = q->heap.count > 1 ? q->heap.count / 2 : 1;   // what is tried next
    vec_sort(&q->heap, compare_candidates);
    while (q->heap.count > kept) {
        candidate_free(vec_pop(&q->heap));
        q->dropped++;
    }
}

void queue_push(struct queue *q, const struct candidate *c)
{
    struct candidate *copy = copy_candidate(c);
    copy->number = q->arrived++;
    heap_push(&q->heap, copy, is_before, NULL);
    if (q->heap.count > q->peak)
        q->peak = q->heap.count;
    if (q->limit && q->heap.count > q->limit)
        queue_drop_costlier_half(q);
}

struct candidate *queue_pop(struct queue *q)
{
    return q->heap.count ? heap_pop(&q->heap, is_before, NULL) : NULL;
}

void queue_keep(struct queue *q, bool (*is_kept)(void *context, const struct candidate *c), void *context)
{
    size_t n = 0;
    for (size_t i = 0; i < q->heap.count; i++)
        if (is_kept(context, q->heap.items[i]))
            q->heap.items[n++] = q->heap.items[i];
        else
            candidate_free(q->heap.items[i]);
    q->heap.count = n;
    heap_make(&q->heap, is_before, NULL);
}
