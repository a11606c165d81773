// Applications with the same operator, attributes and input types have the same code.
#include "backends/instructions/code_cache.h"

#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "graph/graph_whole.h"

struct code_cache {
    struct arena arena;
    struct key_set applications;
    VEC(struct code *) codes;
    VEC(int64_t) words;   // of the application being looked for
};

struct code_cache *code_cache_new(void)
{
    return mem_alloc_zero(sizeof(struct code_cache));
}

void code_cache_free(struct code_cache *cache)
{
    vec_free(&cache->codes);
    vec_free(&cache->words);
    key_set_free(&cache->applications);
    arena_free(&cache->arena);
    mem_free(cache, sizeof *cache);
}

static void spell_application(struct code_cache *cache, const struct graph *g, node_id id)
{
    const struct node *n = &g->nodes.items[id];
    vec_clear(&cache->words);
    vec_push(&cache->words, n->op->id);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        vec_push(&cache->words, n->attributes[i].count);
        for (uint32_t k = 0; k < n->attributes[i].count; k++)
            vec_push(&cache->words, n->attributes[i].ints[k]);
    }
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct type *t = graph_type(g, graph_inputs(g, id)[i]);
        vec_push(&cache->words, t->dtype);
        vec_push(&cache->words, t->rank);
        for (int a = 0; a < t->rank; a++)
            vec_push(&cache->words, t->dim[a]);
    }
}

static struct code *make_code(struct code_cache *cache, const struct graph *g, node_id node)
{
    struct code *made = arena_new(&cache->arena, struct code);
    struct definition d FREED_BY(definition_free) = {0};
    ARENA(scratch);
    if (graph_define(g, node, &d, &scratch))
        code_from_definition(&d, &cache->arena, made);
    return made;
}

const struct code *code_cache_find(struct code_cache *cache, const struct graph *g, node_id node)
{
    spell_application(cache, g, node);
    uint32_t id = key_set_add(&cache->applications, &cache->arena, cache->words.items,
                              cache->words.count * sizeof *cache->words.items);
    if (id == cache->codes.count)
        vec_push(&cache->codes, make_code(cache, g, node));
    return cache->codes.items[id];
}
