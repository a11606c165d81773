// `plan_models [--list] [--compile ARCHITECTURE]... [--type TYPE] [--shape SYMBOL=8]... MODEL.onnx...`: what models
// come to on a GPU that is not here.
//
// For each model and element type (f32, tf32, f16, bf16: the model as it is, with other types in its convolutions) one
// line: convolutions, how many of them are distinct, for how many cuDNN finds an engine on sm_90, and how many are left
// to generated kernels. With --list each distinct convolution is printed, as tests/cuda/convolutions.txt has it; with
// --compile every kernel that the model needs is compiled. Exit code 1 when a convolution has no engine or a kernel
// does not compile.
#include "backends/cuda/library.h"
#include "backends/cuda/load.h"
#include "tests/cuda/planning.h"
#include "tests/onnx/with_model.h"
#include <stdio.h>
#include <string.h>

#define MOST_ARCHITECTURES 8

struct counts {
    int convs, distinct, planned, unread, products;
};
struct planning {
    const struct gpu_api *api;
    const char *model;
    enum gpu_type type;
    bool allows_tf32, has_failed, is_listing;
    struct counts counts;
    VEC(const char *) shapes;   // given by --shape
    VEC(struct gpu_conv) seen;
    struct kernel_texts texts;
    int n_architectures, n_types;
    const char *architectures[MOST_ARCHITECTURES];
    const char *const *types;
};

static void describe(const struct gpu_conv *c, char *ret_text, size_t size)
{
    size_t used = 0;
    const struct gpu_tensor *tensors[] = {&c->x, &c->w, &c->z};
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < c->x.rank; i++)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%lld",
                                     i   ? "x"
                                     : t ? " "
                                         : "",
                                     (long long)tensors[t]->dim[i]);
    const int64_t *const lists[] = {c->stride, c->dilation, c->pad_begin, c->pad_end};
    const char *const names[] = {"stride", "dilation", "begin", "end"};
    for (int l = 0; l < 4; l++)
        used += (size_t)snprintf(ret_text + used, size - used, " %s %lld,%lld", names[l], (long long)lists[l][0],
                                 (long long)lists[l][1]);
    snprintf(ret_text + used, size - used, " groups %lld%s%s%s", (long long)c->groups, c->has_bias ? " bias" : "",
             c->has_residual ? " residual" : "", c->activation ? " relu" : "");
}

static void plan_conv(struct planning *p, const struct gpu_conv *conv)
{
    char reason[GPU_REASON_SIZE], text[512];
    struct gpu_choice choice;
    p->counts.convs++;
    if (ANY(size_t, i, p->seen.count, memcmp(&p->seen.items[i], conv, sizeof *conv) == 0))
        return;
    vec_push(&p->seen, *conv);
    p->counts.distinct++;
    describe(conv, text, sizeof text);
    if (p->is_listing)
        printf("conv %s\n", text);
    if (p->api->conv_choices(NULL, "sm_90", conv, 1, &choice, reason)) {
        p->counts.planned++;
        return;
    }
    printf("  none: %s: %s\n", text, reason);
    p->has_failed = true;
}

static void look_at_step(void *context, const struct plan *plan, const struct step *step)
{
    struct planning *p = context;
    struct library_step s;
    if (!cuda_is_library_step(step)) {
        p->has_failed = !kernel_texts_add_step(&p->texts, plan, step, "", p->api->prelude) || p->has_failed;
        return;
    }
    if (!library_step_read(plan, step, p->allows_tf32, &s)) {
        p->counts.unread++;
        p->has_failed = !kernel_texts_add_step(&p->texts, plan, step, "", p->api->prelude) || p->has_failed;
    } else if (s.is_conv) {
        s.conv.type = p->type;
        plan_conv(p, &s.conv);
    } else {
        p->counts.products++;
    }
}

// Halves are planned as TF32 is: with channels last.
static void plan_model(struct planning *p, const struct graph *g, const char *type)
{
    p->type = strcmp(type, "f16") == 0 ? GPU_F16 : strcmp(type, "bf16") == 0 ? GPU_BF16 : GPU_F32;
    p->allows_tf32 = strcmp(type, "f32") != 0;
    p->counts = (struct counts){0};
    vec_clear(&p->seen);
    if (!plan_for_cuda(g, p->allows_tf32, look_at_step, p)) {
        printf("%s: cannot be planned\n", p->model);
        p->has_failed = true;
        return;
    }
    printf("%s %s: %d convolutions, %d distinct, %d with an engine; %d products; %d generated instead\n", p->model,
           type, p->counts.convs, p->counts.distinct, p->counts.planned, p->counts.products, p->counts.unread);
}

static void compile_kernels(struct planning *p)
{
    char reason[GPU_REASON_SIZE];
    void *code;
    size_t size, compiled = 0;
    for (size_t i = 0; i < p->texts.list.count; i++)
        for (int a = 0; a < p->n_architectures; a++) {
            if (!p->api->compile(p->texts.list.items[i], p->architectures[a], &code, &size, reason)) {
                printf("  does not compile for %s: %s\n%s\n", p->architectures[a], reason, p->texts.list.items[i]);
                p->has_failed = true;
                continue;
            }
            compiled++;
            p->api->free_code(code);
        }
    if (p->n_architectures)
        printf("%s: %zu distinct kernels, compiled %zu times\n", p->model, p->texts.list.count, compiled);
}

static bool plan_and_compile(struct imported_model *m, void *context, struct error *error)
{
    struct planning *p = context;
    for (int i = 0; i < p->n_types; i++)
        plan_model(p, &m->graph, p->types[i]);
    compile_kernels(p);
    return true;
}

static void open_model(struct planning *p, const char *path)
{
    struct error error = {0};
    const char *slash = strrchr(path, '/');
    p->model = slash ? slash + 1 : path;
    struct import_options options = {
        .fold_limit = IMPORT_FOLD_LIMIT, .shapes = p->shapes.items, .shape_count = p->shapes.count};
    if (!with_model(path, &options, plan_and_compile, p, &error)) {
        error_exit("plan_models", &error);
        p->has_failed = true;
    }
    kernel_texts_free(&p->texts);
}

int main(int argc, char **argv)
{
    static const char *const all_types[] = {"f32", "tf32", "f16", "bf16"};
    char reason[GPU_REASON_SIZE];
    struct planning p = {.api = gpu_load(reason), .n_types = 4, .types = all_types};
    int first = 1;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2)
        if (strcmp(argv[first], "--compile") == 0 && p.n_architectures < MOST_ARCHITECTURES) {
            p.architectures[p.n_architectures++] = argv[first + 1];
        } else if (strcmp(argv[first], "--type") == 0) {
            p.types = (const char *const *)&argv[first + 1];
            p.n_types = 1;
        } else if (strcmp(argv[first], "--shape") == 0) {
            vec_push(&p.shapes, argv[first + 1]);
        } else if (strcmp(argv[first], "--list") == 0) {
            p.is_listing = true;
            first--;
        }
    if (!p.api) {
        fprintf(stderr, "plan_models: %s\n", reason);
        return 77;
    }
    for (int i = first; i < argc; i++)
        open_model(&p, argv[i]);
    vec_free(&p.seen);
    vec_free(&p.shapes);
    return p.has_failed;
}
