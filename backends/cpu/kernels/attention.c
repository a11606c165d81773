// The step in the middle is known by its loops: the greatest of a row, the sum of exponentials of what is below it, and
// these as shares of the sum.
#include "backends/cpu/kernels/attention.h"

#include "backends/cpu/epilogue.h"
#include "backends/cpu/generated.h"
#include "backends/generated/chains/attention.h"
#include "backends/generated/tile_arguments.h"
#include "core/text/text.h"
#include <string.h>

#define FEWEST_ROWS 8

struct cpu_attention {
    struct attention_definition definition;
    generated_run_fn *run;
    const struct view *q, *k, *v, *y;
    const struct loop *loops[2];   // epilogues, or NULL
    const float **operands[2];
    const int64_t *lists[ATTENTION_N_LISTS];
    int threads;
};

// --- which steps -----------------------------------------------------------------------------------------------------

static bool is_product(const struct step *s)
{
    return s->kernel == &cpu_kernel_matmul.base && s->operands[0].dtype == DTYPE_F32 &&
           s->operands[1].dtype == DTYPE_F32 && s->results[0].dtype == DTYPE_F32 && s->n_loops <= 1;
}

static bool applies(const struct loop *l, int n, const uint8_t *functions)
{
    bool is_so = l->n_instructions == n && l->n_results == 1 && l->results[0].to.dtype == DTYPE_F32;
    for (int i = 0; is_so && i < n; i++) {
        bool is_last_of_sum = l->n_reduced && i + 1 == n;
        uint16_t before = (uint16_t)(VALUE_OF_INSTRUCTION | (i - 1));
        is_so = l->instructions[i].fn == functions[i] &&
                l->instructions[i].kind == (is_last_of_sum ? INSTRUCTION_REDUCE : INSTRUCTION_APPLY) &&
                (i == 0 || l->instructions[i].a == before);
    }
    return is_so && l->results[0].value == (VALUE_OF_INSTRUCTION | (n - 1));
}

static bool reads(const struct loop *l, uint16_t value, memory_id memory)
{
    return !(value & VALUE_OF_INSTRUCTION) && l->operands[value].memory == memory;
}

// Loops behind the first read x - m.
static bool reads_differences(const struct loop *l, memory_id x, memory_id m)
{
    return reads(l, l->instructions[0].a, x) && reads(l, l->instructions[0].b, m);
}

static bool is_softmax(const struct step *s)
{
    const struct loop *l = s->loops;
    if (s->kernel != &cpu_kernel_loops.base || s->n_loops != 3 || s->n_shared < 1 || l[2].rank != s->n_shared + 1 ||
        l[0].n_reduced != 1 || l[1].n_reduced != 1 || l[2].n_reduced || !applies(&l[0], 1, (const uint8_t[]){FN_MAX}) ||
        !applies(&l[1], 3, (const uint8_t[]){FN_SUB, FN_EXP, FN_ADD}) ||
        !applies(&l[2], 3, (const uint8_t[]){FN_SUB, FN_EXP, FN_DIV}))
        return false;
    memory_id x = l[0].operands[0].memory, m = l[0].results[0].to.memory, sum = l[1].results[0].to.memory;
    return reads(&l[0], l[0].instructions[0].a, x) && reads_differences(&l[1], x, m) &&
           reads_differences(&l[2], x, m) && reads(&l[2], l[2].instructions[2].b, sum);
}

static bool stands_so(const struct loop_access *a, const struct view *v)
{
    size_t bytes = (size_t)v->rank * sizeof *v->stride;
    return a->memory == v->memory && a->offset == v->offset && a->dtype == v->dtype && !a->block && !v->block &&
           memcmp(a->stride, v->stride, bytes) == 0;
}

// The last loop goes through the tensor as the product's view does.
static bool has_shape(const struct loop *l, const struct view *v)
{
    return l->rank == v->rank && memcmp(l->dim, v->dim, (size_t)v->rank * sizeof *v->dim) == 0;
}

bool cpu_is_part_of_attention(const struct plan *plan, const struct step *first, const struct step *second)
{
    if (is_product(first) && is_softmax(second))
        return has_shape(&second->loops[2], &first->results[0]) &&
               stands_so(&second->loops[0].operands[0], &first->results[0]) &&
               stands_so(&second->loops[2].operands[0], &first->results[0]);
    const struct view *y = &second->results[0];
    return is_softmax(first) && is_product(second) && has_shape(&first->loops[2], &second->operands[0]) &&
           stands_so(&first->loops[2].results[0].to, &second->operands[0]) && y->stride[y->rank - 1] == 1 &&
           y->dim[y->rank - 2] >= FEWEST_ROWS;
}

bool cpu_is_attention(const struct step *joined)
{
    return joined->n_parts == 3 && is_product(&joined->parts[0]) && is_softmax(&joined->parts[1]);
}

// --- the definition --------------------------------------------------------------------------------------------------

static struct tile_image image_of(int rank, const int64_t *stride, int lanes)
{
    return (struct tile_image){.block = lanes * stride[rank - 1], .pixel = stride[rank - 2], .lane = stride[rank - 1]};
}

static bool define_tile(struct cpu_attention *a, int tile, const struct step_request *r, const struct step *s)
{
    struct tile_definition *d = &a->definition.tiles[tile];
    const struct cpu_machine *machine = r->backend->machine;
    const struct view *x = &s->operands[0], *y = &s->operands[1], *z = &s->results[0];
    const struct loop *l = s->n_loops ? &s->loops[0] : NULL;
    *d = (struct tile_definition){.lanes = machine->lanes,
                                  .registers = machine->registers,
                                  .channels = x->dim[x->rank - 1],
                                  .results = z->dim[z->rank - 1],
                                  .source = image_of(x->rank, x->stride, machine->lanes),
                                  .target = image_of(z->rank, z->stride, machine->lanes),
                                  .epilogue.has_relu = cpu_has_activation(r->plan->graph, s),
                                  .epilogue.loop = l};
    a->loops[tile] = l;
    a->definition.column[tile] = y->stride[y->rank - 1];
    a->definition.row[tile] = y->stride[y->rank - 2];
    if (!l)
        return !x->block && !y->block && !z->block;
    struct tile_image *operands = arena_array(r->arena, struct tile_image, (size_t)l->n_operands);
    for (int i = 1; i < l->n_operands; i++) {
        if (l->operands[i].block)
            return false;
        operands[i] = image_of(l->rank, l->operands[i].stride, machine->lanes);
    }
    d->epilogue.operands = operands;
    return l->rank == z->rank && stands_so(&l->results[0].to, z) && !x->block && !y->block && !z->block;
}

static bool define(struct cpu_attention *a, const struct step_request *r)
{
    const struct step *first = &r->step->parts[0], *second = &r->step->parts[2];
    const struct view *s = &first->results[0];
    a->q = &first->operands[0];
    a->k = &first->operands[1];
    a->v = &second->operands[1];
    a->y = &second->results[0];
    a->definition.rows = s->dim[s->rank - 2];
    a->definition.products = PRODUCT_ALL(int64_t, int, i, s->rank - 2, s->dim[i]);
    return define_tile(a, ATTENTION_FIRST, r, first) && define_tile(a, ATTENTION_SECOND, r, second) &&
           attention_complete(&a->definition);
}

// --- where products begin --------------------------------------------------------------------------------------------

// The entry at the product's place on the axes in front of the last two; a matrix that all share has no such axes.
static int64_t place_of(const struct view *products, int rank, const int64_t *stride, int64_t product)
{
    int64_t place = 0;
    for (int i = products->rank - 3; i >= 0; i--) {
        place += rank == products->rank ? product % products->dim[i] * stride[i] : 0;
        product /= products->dim[i];
    }
    return place;
}

static void list_places(struct cpu_attention *a, const struct view *products, int64_t *ret_places)
{
    const struct view *views[] = {a->q, a->k, a->v, a->y};
    for (int64_t i = 0; i < a->definition.products; i++) {
        for (int k = 0; k < 4; k++)
            *ret_places++ = place_of(products, views[k]->rank, views[k]->stride, i);
        for (int tile = 0; tile < 2; tile++)
            for (int k = 1; a->loops[tile] && k < a->loops[tile]->n_operands; k++)
                *ret_places++ = place_of(products, a->loops[tile]->rank, a->loops[tile]->operands[k].stride, i);
    }
}

// --- preparing and running -------------------------------------------------------------------------------------------

static bool find_kernel(struct cpu_attention *a, const struct step_request *r)
{
    TEXT(text);
    attention_print(&text, &a->definition);
    return cpu_find_kernel(r, text.chars, &a->run);
}

void cpu_attention_print(const struct step_request *r, struct text *kernel)
{
    struct cpu_attention a = {0};
    if (define(&a, r))
        attention_print(kernel, &a.definition);
}

static void list_all(struct cpu_attention *a, const struct step_request *r)
{
    const struct attention_definition *d = &a->definition;
    for (int tile = 0; tile < 2; tile++) {
        int64_t *numbers = arena_array(r->arena, int64_t, tile_n_numbers(&d->tiles[tile], &d->schedules[tile]));
        tile_list_numbers(&d->tiles[tile], &d->schedules[tile], numbers);
        a->lists[ATTENTION_TILES + tile] = numbers;
        a->operands[tile] =
            arena_array(r->arena, const float *, a->loops[tile] ? (size_t)a->loops[tile]->n_operands : 1);
    }
    int64_t *own = arena_array(r->arena, int64_t, attention_n_numbers(d));
    int64_t *places = arena_array(r->arena, int64_t, (size_t)d->products * (size_t)attention_n_places(d));
    attention_list_numbers(d, own);
    list_places(a, &r->step->parts[0].results[0], places);
    a->lists[ATTENTION_OWN] = own;
    a->lists[ATTENTION_PLACES] = places;
}

struct cpu_attention *cpu_attention_prepare(const struct step_request *r)
{
    struct cpu_attention *a = arena_new(r->arena, struct cpu_attention);
    a->threads = r->backend->threads;
    if (!define(a, r) || !find_kernel(a, r))
        return NULL;
    list_all(a, r);
    return a;
}

size_t cpu_attention_scratch_bytes(const struct cpu_attention *a)
{
    return (size_t)a->threads * attention_scratch_floats(&a->definition) * sizeof(float);
}

void cpu_attention_run(const struct cpu_attention *a, const struct execution *e)
{
    const float *const *operands[] = {a->operands[0], a->operands[1]};
    const void *given[] = {address_of_view(e->memory, a->q),
                           address_of_view(e->memory, a->k),
                           address_of_view(e->memory, a->v),
                           address_of_view(e->memory, a->y),
                           operands,
                           a->lists};
    for (int tile = 0; tile < 2; tile++)
        for (int i = 1; a->loops[tile] && i < a->loops[tile]->n_operands; i++)
            a->operands[tile][i] =
                (const float *)e->memory[a->loops[tile]->operands[i].memory] + a->loops[tile]->operands[i].offset;
    cpu_run_generated(e, a->threads, a->run, given, attention_scratch_floats(&a->definition));
}
