// Applications with the same operator, attributes and input types have the same code.
#include "backends/instructions/code_cache.h"

#include "backends/instructions/words.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "graph/graph_whole.h"

struct code_cache {
    struct arena arena;
    struct key_set applications;
    VEC(struct code *) codes;
    struct words words;   // of the application being looked for
};

struct code_cache *code_cache_new(void)
{
    return mem_alloc_zero(sizeof(struct code_cache));
}

void code_cache_free(struct code_cache *cache)
{
    vecs_free(cache, codes, words.list);
    key_set_free(&cache->applications);
    arena_free(&cache->arena);
    mem_free(cache, sizeof *cache);
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
    vec_clear(&cache->words.list);
    words_add_application(&cache->words, g, node);
    uint32_t id = key_set_add(&cache->applications, &cache->arena, cache->words.list.items,
                              cache->words.list.count * sizeof *cache->words.list.items);
    if (id == cache->codes.count)
        vec_push(&cache->codes, make_code(cache, g, node));
    return cache->codes.items[id];
}
