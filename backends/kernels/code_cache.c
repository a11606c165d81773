// Applications with the same operator, attributes and input types have the same code.
#include "backends/kernels/code_cache.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include <string.h>

struct cached_code {
    size_t n_words;
    const int64_t *words;
    struct code code;
};
struct code_cache {
    struct arena arena;
    struct table table;
    VEC(struct cached_code *) codes;
    VEC(int64_t) words;   // of the application being looked for
};

struct code_cache *code_cache_new(void)
{
    struct code_cache *cache = mem_alloc_zero(sizeof *cache);
    arena_init(&cache->arena);
    return cache;
}

void code_cache_free(struct code_cache *cache)
{
    vec_free(&cache->codes);
    vec_free(&cache->words);
    table_free(&cache->table);
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

static bool is_same_application(const void *owner, uint32_t id, const void *key)
{
    const struct code_cache *cache = owner, *wanted = key;
    const struct cached_code *c = cache->codes.items[id];
    return c->n_words == wanted->words.count &&
           memcmp(c->words, wanted->words.items, c->n_words * sizeof *c->words) == 0;
}

static struct cached_code *make_code(struct code_cache *cache, const struct graph *g, node_id node)
{
    struct cached_code *made = arena_new(&cache->arena, struct cached_code);
    struct definition d;
    struct arena scratch;
    arena_init(&scratch);
    made->n_words = cache->words.count;
    made->words = arena_copy_array(&cache->arena, cache->words.items, cache->words.count);
    if (graph_define(g, node, &d, &scratch))
        code_from_definition(&d, &cache->arena, &made->code);
    definition_free(&d);
    arena_free(&scratch);
    return made;
}

const struct code *code_cache_find(struct code_cache *cache, const struct graph *g, node_id node)
{
    spell_application(cache, g, node);
    uint64_t hash = hash_bytes(cache->words.items, cache->words.count * sizeof *cache->words.items, 0);
    uint32_t id = table_find(&cache->table, hash, is_same_application, cache, cache);
    if (id == TABLE_NONE) {
        id = (uint32_t)cache->codes.count;
        vec_push(&cache->codes, make_code(cache, g, node));
        table_insert(&cache->table, hash, id);
    }
    return &cache->codes.items[id]->code;
}
