// Both are run on the same data, and compared at some places with what the definition gives there.
#include "backends/cpu/result_error.h"

#include "backends/cpu/tile_step.h"
#include "backends/cpu/ways.h"
#include "backends/limits.def"
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include <math.h>
#include <string.h>

enum data { SIGNED, POSITIVE, CANCELLING, N_DATA };
#define N_PLACES 256
#define LARGE_MEAN 64   // of data of about 1

struct place {
    int64_t index[4];
    double value, norm;   // the root of the sum of the squares of all terms
};
struct comparing {
    const struct step_request *request;
    struct step step;   // without the epilogue
    struct tile_step tile;
    int64_t weight_distances[4];
    struct arena *arena;
    char **memory;
    struct place places[N_PLACES];
};

// --- data ------------------------------------------------------------------------------------------------------------

static void fill_image(float *to, size_t n, enum data data, struct random *random)
{
    for (size_t i = 0; i < n; i++) {
        float x = (float)(2 * random_unit(random) - 1);
        to[i] = data == SIGNED ? x : data == POSITIVE ? fmaxf(0, x) : LARGE_MEAN + x;
    }
}

// Each second weight takes away what the one before it adds.
static void fill_weights(float *to, size_t n, enum data data, struct random *random)
{
    for (size_t i = 0; i < n; i++)
        to[i] = data == CANCELLING && i % 2 ? -to[i - 1] : (float)(2 * random_unit(random) - 1);
}

static size_t elements_of(const struct comparing *c, memory_id id)
{
    return (size_t)c->request->plan->memory.items[id].elements;
}

static void fill_operands(struct comparing *c, enum data data, struct random *random)
{
    memory_id image = c->step.operands[0].memory, weights = c->step.operands[1].memory;
    fill_image((float *)c->memory[image], elements_of(c, image), data, random);
    fill_weights((float *)c->memory[weights], elements_of(c, weights), data, random);
}

// --- the reference ---------------------------------------------------------------------------------------------------

static double entry(const struct comparing *c, const struct view *v, const struct tile_image *i, int64_t channel,
                    const int64_t index[4], int64_t row, int64_t column)
{
    const float *at = (const float *)address_of_view(c->memory, v);
    int lanes = c->tile.definition.lanes;
    return at[index[0] * i->image + channel / lanes * i->block + channel % lanes * i->lane + row * i->row +
              column * i->pixel];
}

static double weight(const struct comparing *c, const int64_t index[4])
{
    const float *at = (const float *)address_of_view(c->memory, &c->step.operands[1]);
    return at[SUM_ALL(int64_t, int, i, 4, index[i] * c->weight_distances[i])];
}

static void sum_terms(const struct comparing *c, struct place *p)
{
    const struct tile_definition *d = &c->tile.definition;
    double sum = 0, squares = 0;
    for (int64_t channel = 0; channel < d->channels; channel++)
        for (int64_t k = 0; k < d->window.kernel[0] * d->window.kernel[1]; k++) {
            int64_t i = k / d->window.kernel[1], j = k % d->window.kernel[1];
            int64_t row = p->index[2] + i - d->window.pad[0], column = p->index[3] + j - d->window.pad[1];
            if (row < 0 || row >= d->height || column < 0 || column >= d->width)
                continue;
            double term = entry(c, c->tile.source, &d->source, channel, p->index, row, column) *
                          weight(c, (const int64_t[4]){p->index[1], channel, i, j});
            sum += term;
            squares += term * term;
        }
    p->value = d->epilogue.has_relu ? fmax(0, sum) : sum;
    p->norm = sqrt(squares);
}

static void choose_places(struct comparing *c, struct random *random)
{
    const struct tile_definition *d = &c->tile.definition;
    const int64_t dim[4] = {d->images, d->results, d->result_height, d->result_width};
    for (int i = 0; i < N_PLACES; i++) {
        for (int axis = 0; axis < 4; axis++)
            c->places[i].index[axis] = (int64_t)random_below(random, (uint64_t)dim[axis]);
        sum_terms(c, &c->places[i]);
    }
}

// --- runs ------------------------------------------------------------------------------------------------------------

static bool run(struct comparing *c, const char *choice)
{
    struct step_request r = *c->request;
    ARENA(arena);
    c->step.way.choice = choice;
    const struct cpu_kernel *kernel = cpu_kernel_of(r.plan, &c->step);
    r.step = &c->step;
    r.memory = c->memory;
    r.arena = &arena;
    void *state = kernel->prepare(&r);
    size_t bytes = state && kernel->scratch_bytes ? kernel->scratch_bytes(state) : 0;
    struct execution e = {.memory = c->memory, .scratch = arena_alloc(&arena, bytes + 64, 64)};
    bool is_done = state && kernel->run(state, &e);
    if (state && kernel->free)
        kernel->free(state);
    return is_done;
}

// A result that is no number is as far off as can be.
static bool find_error(struct comparing *c, const char *choice, double *ret_error)
{
    double difference = 0, size = 0, norm = 0;
    if (!run(c, choice))
        return false;
    EACH(c->places, N_PLACES, p) {
        double d =
            entry(c, c->tile.target, &c->tile.definition.target, p->index[1], p->index, p->index[2], p->index[3]) -
            p->value;
        difference += d * d;
        size += p->value * p->value;
        norm += p->norm * p->norm;
    }
    *ret_error = difference > 0 ? sqrt(difference / fmax(size, norm)) : 0;
    *ret_error = *ret_error < 1 ? *ret_error : 1;
    return true;
}

static bool compare_on(struct comparing *c, enum data data, const char *choice, struct result_error *largest)
{
    struct random random = random_seed(1 + (uint64_t)data);
    double standard, chosen;
    fill_operands(c, data, &random);
    choose_places(c, &random);
    if (!find_error(c, "", &standard) || !find_error(c, choice, &chosen))
        return false;
    largest->excess = fmax(largest->excess, chosen - standard);
    largest->of_choice = fmax(largest->of_choice, chosen);
    largest->of_standard = fmax(largest->of_standard, standard);
    return true;
}

// --- from beginning to end -------------------------------------------------------------------------------------------

static bool is_in_steps_of_one(const struct tile_definition *d)
{
    return d->groups == 1 && d->window.stride[0] == 1 && d->window.stride[1] == 1 && d->window.dilation[0] == 1 &&
           d->window.dilation[1] == 1;
}

// Defines the reference's step: its epilogue is at most a relu by the operator itself.
static bool define(struct comparing *c, const struct step_request *r)
{
    c->request = r;
    c->step = *r->step;
    c->step.n_loops = 0;
    cpu_tile_weight_distances(&c->step, c->weight_distances);
    return cpu_is_tiled(r->plan, &c->step) && cpu_tile_define_whole(&c->tile, r->backend, r->plan, &c->step, NULL) &&
           is_in_steps_of_one(&c->tile.definition) && c->step.operands[0].dtype == DTYPE_F32 &&
           c->step.operands[1].dtype == DTYPE_F32 && c->step.results[0].dtype == DTYPE_F32;
}

static void give_memory(struct comparing *c, const struct view *v)
{
    if (!c->memory[v->memory])
        c->memory[v->memory] = arena_alloc(c->arena, (elements_of(c, v->memory) + 16) * sizeof(float), 64);
    memset(c->memory[v->memory], 0, elements_of(c, v->memory) * sizeof(float));
}

bool cpu_result_error(const struct step_request *r, const char *choice, struct result_error *ret_error)
{
    ARENA(arena);
    struct comparing c;
    struct result_error largest = {.excess = LEAST_ERROR};
    bool is_done = define(&c, r);
    if (!is_done)
        return false;
    c.arena = &arena;
    c.memory = arena_array(&arena, char *, r->plan->memory.count + 1);
    give_memory(&c, &c.step.operands[0]);
    give_memory(&c, &c.step.operands[1]);
    give_memory(&c, &c.step.results[0]);
    for (enum data data = 0; is_done && data < N_DATA; data++)
        is_done = compare_on(&c, data, choice, &largest);
    if (is_done)
        *ret_error = largest;
    return is_done;
}
