// Types are equal when shapes and whole split trees are.
#include "expressions/type_identity.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"

static uint64_t hash_of_tree(const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY)
        return tree ? 1 : 0;
    return hash_mix(hash_mix((uint64_t)tree->left_size, hash_of_tree(tree->left)), hash_of_tree(tree->right) + 2);
}

uint64_t type_identity_hash(const struct type *type)
{
    uint64_t hash = (uint64_t)type->dtype << 8 | (uint64_t)type->rank;
    for (int i = 0; i < type->rank; i++) {
        uint64_t tree = type->split[i] ? hash_of_tree(type->split[i]) : 0;
        hash = (hash ^ (uint64_t)type->dim[i] ^ tree << 32) * UINT64_C(0x9fb21c651e98df25);
        hash ^= hash >> 29;
    }
    return hash;
}

bool type_is_identical(const struct type *a, const struct type *b)
{
    return type_equal(a, b) && type_equal_split(a, b);
}

static const struct split_tree *copy_tree(struct arena *a, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY)
        return tree;
    return split_tree_join(a, tree->left_size, copy_tree(a, tree->left), copy_tree(a, tree->right));
}

struct type type_copy(struct arena *a, const struct type *type)
{
    struct type copy = *type;
    for (int i = 0; i < type->rank; i++)
        copy.split[i] = copy_tree(a, type->split[i]);
    return copy;
}
