// Engines by near shapes: seven in ten of 685 convolutions that an H200 ran, in any order, have the best engine of the
// nearest shape before them, and eight in ten that or the next one (the same operator, window, layout, type and
// epilogue; near: the sum of the logarithms of how many times larger one is on each axis). Of 525 in f32 by cuDNN 464
// have the first one of its ranking, and 518 one of the first three.
#include "backends/cuda/engines.h"

#include "backends/cuda/library.h"
#include "backends/cuda/tiles.h"
#include "core/memory/hash.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CANDIDATES 10   // of a library's ranking
#define MOST_NEAR 2     // engines of near shapes
#define MOST_TILES 4

// --- shapes ----------------------------------------------------------------------------------------------------------

static struct engine_shape shape_of_conv(const struct gpu_conv *c)
{
    const int64_t kind[] = {c->type,       c->allows_tf32,      c->has_bias,   c->has_residual, c->activation,
                            c->groups > 1, c->z.stride[1] == 1, c->w.dim[2],   c->w.dim[3],     c->stride[0],
                            c->stride[1],  c->dilation[0],      c->dilation[1]};
    double places = PRODUCT_ALL(double, int, i, c->z.rank, i == 1 ? 1 : (double)c->z.dim[i]);
    return (struct engine_shape){
        hash_bytes(kind, sizeof kind, 1),
        {log2(places), log2((double)c->w.dim[0]), log2((double)c->w.dim[1]), log2((double)c->groups)}};
}

static struct engine_shape shape_of_product(const struct gpu_product *p)
{
    const int64_t kind[] = {p->type,     p->allows_tf32,     p->x.column_stride == 1, p->y.column_stride == 1,
                            p->has_bias, p->is_bias_of_rows, p->has_residual,         p->activation};
    return (struct engine_shape){
        hash_bytes(kind, sizeof kind, 2),
        {log2((double)p->m), log2((double)p->n), log2((double)p->k), log2((double)p->batches)}};
}

static struct engine_shape shape_of(const struct library_step *s)
{
    return s->is_conv ? shape_of_conv(&s->conv) : shape_of_product(&s->product);
}

static double distance(const struct engine_shape *a, const struct engine_shape *b)
{
    double sum = SUM_ALL(double, int, i, 4, fabs(a->sizes[i] - b->sizes[i]));
    return a->kind == b->kind ? sum : INFINITY;
}

// --- lists -----------------------------------------------------------------------------------------------------------

static bool is_listed(const choice_list *list, const char *text)
{
    return ANY(size_t, i, list->count, strcmp(list->items[i].text, text) == 0);
}

static void add_choice(choice_list *list, const char *before, const char *text)
{
    struct listed_choice c = {.text = ""};
    int n = snprintf(c.text, sizeof c.text, "%s%s", before, text);
    if (n >= 0 && (size_t)n < sizeof c.text && !is_listed(list, c.text))
        vec_push(list, c);
}

// The nearest one that is not listed yet.
static void add_near(const struct cuda_backend *b, const struct engine_shape *shape, choice_list *list)
{
    const struct known_engine *nearest = NULL;
    vec_each(&b->engines, e) {
        double least = nearest ? distance(&nearest->shape, shape) : INFINITY;
        if (distance(&e->shape, shape) < least && !is_listed(list, e->choice))
            nearest = e;
    }
    if (nearest)
        add_choice(list, "", nearest->choice);
}

static int ask_library(struct cuda_backend *b, const struct library_step *s, struct gpu_choice *ret_choices)
{
    char reason[GPU_REASON_SIZE];
    return s->is_conv
               ? b->api->conv_choices(b->gpu, b->information.architecture, &s->conv, CANDIDATES, ret_choices, reason)
               : b->api->product_choices(b->gpu, &s->product, CANDIDATES, ret_choices, reason);
}

// Engines without an epilogue are others, and often faster by more than a kernel for the epilogue takes. Nothing else
// gives a result in columns a bias, where the library does not.
static void add_engines(struct cuda_backend *b, const struct library_step *s, bool has_epilogue, choice_list *list)
{
    struct gpu_choice fused[CANDIDATES], apart[CANDIDATES];
    struct library_step bare = library_step_bare(s);
    int n_fused = ask_library(b, s, fused);
    bool takes_apart = has_epilogue && (s->is_conv || (s->product.is_bias_of_rows && n_fused == 0));
    int n_apart = takes_apart ? ask_library(b, &bare, apart) : 0;
    for (int i = 0; i < n_fused || i < n_apart; i++) {
        if (i < n_fused)
            add_choice(list, "", fused[i].text);
        if (i < n_apart)
            add_choice(list, CHOICE_APART, apart[i].text);
    }
}

// Tiles take turns with what stands in the list from `first` on.
static void add_tiles(const choice_list *tiles, size_t first, choice_list *list)
{
    LOCAL_LIST(choice_list, rest);
    for (size_t i = first; i < list->count; i++)
        vec_push(&rest, list->items[i]);
    list->count = first;
    for (size_t i = 0; i < rest.count || i < tiles->count; i++) {
        if (i < rest.count)
            vec_push(list, rest.items[i]);
        if (i < tiles->count)
            add_choice(list, "", tiles->items[i].text);
    }
}

void cuda_list_choices(struct backend *backend, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct cuda_backend *b = (struct cuda_backend *)backend;
    struct library_step s;
    choice_list tiles = {0};
    if (!cuda_is_library_step(step)) {
        add_choice(list, "", "");
        return;
    }
    cuda_list_tiles(b, plan, step, MOST_TILES, &tiles);
    bool is_read = library_step_read(plan, step, b->base.options.allows_tf32, &s), has_groups = s.conv.groups > 1;
    struct engine_shape shape = is_read ? shape_of(&s) : (struct engine_shape){0};
    for (int i = 0; is_read && i < MOST_NEAR; i++)
        add_near(b, &shape, list);
    if (s.is_conv && has_groups)
        add_choice(list, "", CHOICE_GENERATED);
    size_t n = list->count;
    if (is_read)
        add_engines(b, &s, step->n_loops > 0, list);
    if (list->count == n) {
        add_choice(list, "", "");   // perhaps without its epilogue
        add_choice(list, "", CHOICE_GENERATED);
    }
    add_tiles(&tiles, n, list);
    vec_free(&tiles);
}

// --- what was found --------------------------------------------------------------------------------------------------

void engines_learn(struct backend *backend, const struct plan *plan, const struct step *step,
                   const struct step_cost *cost)
{
    struct cuda_backend *b = (struct cuda_backend *)backend;
    struct library_step s;
    struct known_engine e;
    if (!*cost->choice || !cuda_is_library_step(step) ||
        !library_step_read(plan, step, b->base.options.allows_tf32, &s))
        return;
    e.shape = shape_of(&s);
    snprintf(e.choice, sizeof e.choice, "%s", cost->choice);
    vec_push(&b->engines, e);
}
