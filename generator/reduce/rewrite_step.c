// Replaces at all occurrences at once; size and hash of the result are foreseen before it is made.
#include "generator/reduce/rewrite_step.h"

#include <string.h>

// --- what stays ------------------------------------------------------------------------------------------------------

static int replaced_at(const struct context *c, int at)
{
    return PLACE_OF(int, i, c->n_replaced, c->numbers[i] == c->term->numbers[at]);
}

// Gives the number of the other applications.
static int find_places(struct context *c, uint8_t *ret_others)
{
    const struct measured *m = c->term;
    int n_others = 0;
    for (int at = 0; at < m->key->length;) {
        bool is_node = m->key->bytes[at] >= KEY_NODE;
        int which = is_node ? replaced_at(c, at) : -1;
        if (which >= 0) {
            c->places[c->n_places] = (uint8_t)at;
            c->which[c->n_places++] = (uint8_t)which;
            c->placed |= 1u << which;
            at += m->lengths[at];
        } else {
            if (is_node)
                ret_others[n_others++] = (uint8_t)at;
            at += is_node ? 2 : 1;
        }
    }
    return n_others;
}

static bool has_replaced(const struct context *c, int at)
{
    return ANY(int, i, c->n_places, c->places[i] > at && c->places[i] < at + c->term->lengths[at]);
}

void context_init(struct context *c, const struct family *family, const struct measured *term, const uint8_t *replaced,
                  int n_replaced)
{
    uint8_t others[KEY_LENGTH];
    c->family = family;
    c->term = term;
    c->n_replaced = n_replaced;
    c->n_places = c->n_changed = 0;
    c->placed = c->kept = c->changed_nodes = 0;
    c->kept_bits = 0;
    for (int i = 0; i < n_replaced; i++)
        c->numbers[i] = term->numbers[replaced[i]];
    int n = find_places(c, others);
    for (int i = 0; i < n; i++) {
        int node = term_node_at(term, others[i]);
        if (has_replaced(c, others[i])) {
            c->changed_nodes |= UINT32_C(1) << node;
            c->changed[c->n_changed++] = others[i];
        } else {
            c->kept |= UINT32_C(1) << node;
            c->kept_bits |= term_bit(term->node_hashes[node]);
        }
    }
}

// --- what is foreseen ------------------------------------------------------------------------------------------------

struct foreseeing {
    const struct rewrite_step *step;
    const struct measured *term;
    const uint8_t *target;   // what is left of it
    int length;              // of what it becomes
    uint32_t kept;           // nodes of the term that stay
    uint64_t bits;           // of nodes
    int n_made;
    uint64_t made[(MAX_REPLACED + 1) * MAX_TERM_NODES];   // hashes of the other nodes
};

static uint64_t add_node(struct foreseeing *f, int instance, int output, uint64_t first, uint64_t second)
{
    uint64_t hash = term_hash_of_node(f->step->context->family, instance, first, second);
    f->made[f->n_made++] = hash;
    return term_hash_of_output(hash, output);
}

static uint64_t foresee_target(struct foreseeing *f)
{
    uint8_t first = *f->target++;
    if (first >= KEY_NODE) {
        int instance = *f->target++;
        f->length += 2;
        uint64_t a = foresee_target(f);
        bool is_binary = f->step->context->family->instances[instance].n_inputs == 2;
        return add_node(f, instance, first - KEY_NODE, a, is_binary ? foresee_target(f) : 0);
    }
    if (first >= RULE_GRAPH_CONSTANT) {
        f->length++;
        return term_hash_of_leaf(first - RULE_GRAPH_CONSTANT);
    }
    int bound = f->step->bindings->of[first];
    f->length += f->term->lengths[bound];
    f->kept |= f->term->nodes[bound];
    f->bits |= f->term->bits[bound];
    return f->term->hashes[bound];
}

// The hash of what a term becomes that stood in the whole one.
static uint64_t new_hash_at(const struct foreseeing *f, const uint64_t *replaced, const uint64_t *changed, int at)
{
    const struct context *c = f->step->context;
    const uint8_t *bytes = f->term->key->bytes + at;
    int which = bytes[0] < KEY_NODE ? -1 : replaced_at(c, at);
    if (which >= 0)
        return replaced[which];
    if (bytes[0] < KEY_NODE || !(c->changed_nodes >> term_node_at(f->term, at) & 1))
        return f->term->hashes[at];
    return term_hash_of_output(changed[term_node_at(f->term, at)], bytes[0] - KEY_NODE);
}

static void foresee_changed(struct foreseeing *f, const uint64_t *replaced, uint64_t *changed)
{
    const struct context *c = f->step->context;
    uint32_t missing = c->changed_nodes;
    for (int i = c->n_changed; i-- > 0;) {
        int first = c->changed[i] + 2, node = term_node_at(f->term, c->changed[i]);
        int instance = f->term->key->bytes[c->changed[i] + 1];
        if (!(missing >> node & 1))
            continue;
        missing &= ~(UINT32_C(1) << node);
        uint64_t a = new_hash_at(f, replaced, changed, first), b = 0;
        if (c->family->instances[instance].n_inputs == 2)
            b = new_hash_at(f, replaced, changed, first + f->term->lengths[first]);
        changed[node] = add_node(f, instance, 0, a, b);
    }
}

// A target that comes to stand nowhere leaves no nodes.
static bool foresee_target_of(struct foreseeing *f, int i, uint64_t *ret_hash, int *ret_length)
{
    uint32_t kept = f->kept;
    uint64_t bits = f->bits;
    int n_made = f->n_made;
    f->target = f->step->targets[i].bytes;
    f->length = 0;
    *ret_hash = foresee_target(f);
    *ret_length = f->length;
    if (!(f->step->context->placed >> i & 1)) {
        f->kept = kept;
        f->bits = bits;
        f->n_made = n_made;
    }
    return f->length <= KEY_LENGTH;
}

static bool is_among(const struct foreseeing *f, int n_new, uint64_t hash)
{
    for (uint32_t kept = f->kept; kept; kept &= kept - 1)
        if (f->term->node_hashes[__builtin_ctz(kept)] == hash)
            return true;
    return ANY(int, i, n_new, f->made[i] == hash);
}

static int count_new_nodes(struct foreseeing *f)
{
    int n_new = 0;
    for (int i = 0; i < f->n_made; i++) {
        uint64_t hash = f->made[i], bit = term_bit(hash);
        if (!(f->bits & bit) || !is_among(f, n_new, hash))
            f->made[n_new++] = hash;
        f->bits |= bit;
    }
    return n_new;
}

bool rewrite_step_foresee(struct rewrite_step *step)
{
    const struct context *c = step->context;
    struct foreseeing f;
    uint64_t replaced[MAX_REPLACED], changed[MAX_TERM_NODES];
    int lengths[MAX_REPLACED], length = c->term->key->length;
    f.step = step;
    f.term = c->term;
    f.kept = c->kept;
    f.bits = c->kept_bits;
    f.n_made = 0;
    if (ANY(int, i, c->n_replaced, !foresee_target_of(&f, i, &replaced[i], &lengths[i])))
        return false;
    length += SUM_ALL(int, int, i, c->n_places, lengths[c->which[i]] - c->term->lengths[c->places[i]]);
    if (length > KEY_LENGTH)
        return false;
    foresee_changed(&f, replaced, changed);
    step->hash = new_hash_at(&f, replaced, changed, 0);
    int n_kept = __builtin_popcount(f.kept), n_made = f.n_made;
    step->least_nodes = n_kept + count_new_nodes(&f);
    step->most_nodes = n_kept + n_made;
    return true;
}

// --- making it -------------------------------------------------------------------------------------------------------

static void add_bytes(struct key *key, const uint8_t *bytes, int length)
{
    memcpy(key->bytes + key->length, bytes, (size_t)length);
    key->length = (uint8_t)(key->length + length);
}

// The target with what its variables stand for, which is no longer than a key.
static void make_target(const struct measured *term, const struct target *target, const struct bindings *bindings,
                        struct key *ret_key)
{
    struct key *key = ret_key;
    uint8_t place[KEY_LENGTH + 1];   // in the key, of what begins at each place of the target
    key->length = 0;
    for (int at = 0; at < target->length;) {
        uint8_t first = target->bytes[at];
        place[at] = key->length;
        if (first >= KEY_NODE) {
            key->bytes[key->length++] = first;
            key->bytes[key->length++] = target->bytes[at + 1];
            at += 2;
        } else if (first >= RULE_GRAPH_CONSTANT) {
            key->bytes[key->length++] = (uint8_t)(first - RULE_GRAPH_CONSTANT);
            at++;
        } else {
            add_bytes(key, term->key->bytes + bindings->of[first], term->lengths[bindings->of[first]]);
            at++;
        }
    }
    place[target->length] = key->length;
    for (int i = target->n_swappable; i-- > 0;) {
        const struct swappable *s = &target->swappable[i];
        term_sort_arguments(key->bytes + place[s->first], place[s->second] - place[s->first],
                            place[s->end] - place[s->second]);
    }
}

// The place in the new term of what stood at `at`.
static int moved_place(const struct context *c, const struct key *by, int at)
{
    int moved = at;
    for (int i = 0; i < c->n_places && c->places[i] < at; i++)
        moved += by[c->which[i]].length - c->term->lengths[c->places[i]];
    return moved;
}

static void make_replaced(const struct context *c, const struct key *by, struct key *ret_key)
{
    const struct measured *m = c->term;
    int at = 0;
    ret_key->length = 0;
    for (int i = 0; i < c->n_places; i++) {
        add_bytes(ret_key, m->key->bytes + at, c->places[i] - at);
        add_bytes(ret_key, by[c->which[i]].bytes, by[c->which[i]].length);
        at = c->places[i] + m->lengths[c->places[i]];
    }
    add_bytes(ret_key, m->key->bytes + at, m->key->length - at);
    for (int i = c->n_changed; i-- > 0;) {
        if (!c->family->instances[m->key->bytes[c->changed[i] + 1]].is_commutative)
            continue;
        int first = c->changed[i] + 2, second = first + m->lengths[first], end = second + m->lengths[second];
        int moved = moved_place(c, by, second);
        first = moved_place(c, by, first);
        term_sort_arguments(ret_key->bytes + first, moved - first, moved_place(c, by, end) - moved);
    }
}

void rewrite_step_make(const struct rewrite_step *step, struct key *ret_key)
{
    const struct context *c = step->context;
    struct key by[MAX_REPLACED];
    if (c->places[0] == 0) {
        make_target(c->term, &step->targets[c->which[0]], step->bindings, ret_key);
        return;
    }
    for (int i = 0; i < c->n_replaced; i++)
        make_target(c->term, &step->targets[i], step->bindings, &by[i]);
    make_replaced(c, by, ret_key);
}

bool rewrite_step_leads_to(const struct rewrite_step *step, const struct key *key)
{
    struct key made;
    rewrite_step_make(step, &made);
    return key_compare(&made, key) == 0;
}
