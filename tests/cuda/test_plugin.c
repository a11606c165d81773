// The plugin without a GPU: every kernel of the conformance graphs compiles for every architecture, the same text gives
// the same bytes, and cuDNN has engines for what it is asked.
#include "backends/cuda/load.h"
#include "core/memory/hash.h"
#include "tests/cuda/check_tiles.h"
#include "tests/cuda/graphs.h"
#include "tests/cuda/planning.h"

static const char *const architectures[] = {"sm_90", "sm_80", "sm_100", "sm_120", "sm_75"};
#define EVERY_FEW 36   // kernels are compiled for all architectures; the others for the first

// By day each third kernel is compiled, and each third convolution planned.
static size_t step_of_day(void)
{
    return getenv("TASO_ALL_KERNELS") ? 1 : 3;
}

static const struct gpu_api *open_plugin(void)
{
    char reason[GPU_REASON_SIZE];
    const struct gpu_api *api = gpu_load(reason);
    if (!api)
        fail_msg("%s", reason);
    return api;
}

static void add_kernels(void *context, const struct plan *plan, const struct step *step)
{
    struct kernel_texts *texts = context;
    assert_true(kernel_texts_add_step(texts, plan, step, "", open_plugin()->prelude));
}

static void add_graph(struct kernel_texts *texts, const char *text)
{
    ARENA(arena);
    GRAPH(g, &arena, text);
    assert_true(plan_for_cuda(&g, false, add_kernels, texts));
}

static uint64_t compile(const struct gpu_api *api, const char *text, const char *architecture)
{
    char reason[GPU_REASON_SIZE];
    void *code;
    size_t size;
    if (!api->compile(text, architecture, &code, &size, reason))
        fail_msg("%s: %s\n%s", architecture, reason, text);
    assert_true(size > 100);
    uint64_t hash = hash_bytes(code, size, 0);
    api->free_code(code);
    return hash;
}

TEST(compiles_every_kernel)
{
    const struct gpu_api *api = open_plugin();
    struct kernel_texts texts FREED_BY(kernel_texts_free) = {0};
    ARENA(arena);
    for (const struct listed_graph *g = list_graphs(&arena); g->text; g++)
        add_graph(&texts, g->text);
    assert_true(texts.list.count > 100);
    for (size_t i = 0; i < texts.list.count; i += step_of_day())
        for (size_t a = 0; a < (i % EVERY_FEW == 0 ? COUNT_OF(architectures) : 1); a++)
            compile(api, texts.list.items[i], architectures[a]);
}

struct tiled_kernels {
    struct kernel_texts texts;
    struct tiling tiling;
};

static void add_tile(void *context, const struct plan *plan, const struct step *step)
{
    struct tiled_kernels *k = context;
    char tile[KERNEL_TILE_SIZE];
    if (cuda_is_library_step(step) && find_tile(&k->tiling, plan, step, tile))
        assert_true(kernel_texts_add_step(&k->texts, plan, step, tile, open_plugin()->prelude));
}

// Random tiles, for the architectures by turns.
TEST(compiles_tiles)
{
    struct tiled_kernels k = {.tiling = {.random = random_seed(1)}};
    ARENA(a);
    const char **graphs = texts_of(&a, CONFORMANCE, "graph");
    for (size_t i = 0; graphs[i]; i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        assert_true(plan_for_cuda(&g, i % 2, add_tile, &k));
    }
    assert_true(k.texts.list.count > 20);
    for (size_t i = 0; i < k.texts.list.count; i++)
        compile(open_plugin(), k.texts.list.items[i], architectures[i % COUNT_OF(architectures)]);
    kernel_texts_free(&k.texts);
}

TEST(gives_the_same_bytes)
{
    const struct gpu_api *api = open_plugin();
    struct kernel_texts texts FREED_BY(kernel_texts_free) = {0};
    add_graph(&texts, "x = f32 70 1100; z = softmax 1 x");
    uint64_t first = compile(api, texts.list.items[0], "sm_90");
    assert_true(first == compile(api, texts.list.items[0], "sm_90"));
    assert_true(first != compile(api, texts.list.items[0], "sm_80"));
}

TEST(says_what_does_not_compile)
{
    char reason[GPU_REASON_SIZE] = "";
    void *code;
    size_t size;
    assert_false(open_plugin()->compile("no kernel", "sm_90", &code, &size, reason));
    assert_non_null(strstr(reason, "error"));
    assert_null(strchr(reason, '\n'));
}

// --- convolutions ----------------------------------------------------------------------------------------------------

// As the first channels of a tensor that has `others` more.
static void lay_out_within(struct gpu_tensor *t, bool is_last, int64_t others)
{
    int order[GPU_MAX_RANK] = {0, 1, 2, 3}, last[GPU_MAX_RANK] = {0, 2, 3, 1};
    int64_t stride = 1;
    t->rank = 4;
    t->alignment = 16;
    for (int i = 3; i >= 0; i--) {
        int axis = is_last ? last[i] : order[i];
        t->stride[axis] = stride;
        stride *= t->dim[axis] + (axis == 1 ? others : 0);
    }
}

static void lay_out(struct gpu_tensor *t, bool is_last)
{
    lay_out_within(t, is_last, 0);
}

static struct gpu_conv conv_of(enum gpu_type type, bool is_last, int64_t channels, int64_t groups)
{
    struct gpu_conv c = {.type = type, .stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {1, 1}, .pad_end = {1, 1}};
    c.groups = groups;
    c.x = c.z = (struct gpu_tensor){.dim = {2, channels, 28, 28}};
    c.w = (struct gpu_tensor){.dim = {channels, channels / groups, 3, 3}};
    lay_out(&c.x, is_last);
    lay_out(&c.w, is_last);
    lay_out(&c.z, is_last);
    return c;
}

TEST(has_engines)
{
    const struct gpu_api *api = open_plugin();
    char reason[GPU_REASON_SIZE];
    struct gpu_choice choices[8];
    for (int type = GPU_F32; type <= GPU_BF16; type++)
        for (int is_last = type != GPU_F32; is_last <= 1; is_last++)
            for (int fused = 0; fused < 8; fused++)
                for (int64_t groups = 1; groups <= 64; groups *= 8) {
                    struct gpu_conv c = conv_of((enum gpu_type)type, is_last, 64, groups);
                    c.has_bias = fused != 0;   // the backend gives zeros where there is none
                    c.has_residual = fused & 2;
                    c.activation = fused & 4 ? GPU_RELU : GPU_NO_ACTIVATION;
                    int n = api->conv_choices(NULL, "sm_90", &c, 8, choices, reason);
                    if (n == 0)
                        fail_msg("type %d, channels last %d, fused %d, %d groups: %s", type, is_last, fused,
                                 (int)groups, reason);
                    assert_memory_equal(choices[0].text, "engine ", 7);
                }
}

// A line of convolutions.txt, for a type and its layout.
static struct gpu_conv read_conv(const char *line, enum gpu_type type, bool allows_tf32)
{
    struct gpu_conv c = {.type = type, .allows_tf32 = allows_tf32};
    int64_t *const numbers[] = {c.x.dim, c.w.dim, c.z.dim, c.stride, c.dilation, c.pad_begin, c.pad_end, &c.groups};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        for (int k = 0; k < (i < 3 ? 4 : i < 7 ? 2 : 1); k++) {
            char *end;
            line += strcspn(line, "0123456789");
            numbers[i][k] = strtoll(line, &end, 10);
            assert_true(end > line);
            line = end;
        }
    c.has_bias = strstr(line, " bias");
    c.has_residual = strstr(line, " residual");
    c.activation = strstr(line, " relu") ? GPU_RELU : GPU_NO_ACTIVATION;
    for (size_t i = 0; i < 3; i++)
        lay_out((struct gpu_tensor *[]){&c.x, &c.w, &c.z}[i], type != GPU_F32 || allows_tf32);
    return c;
}

static void check_line(const struct gpu_api *api, const char *line)
{
    static const struct {
        enum gpu_type type;
        bool allows_tf32;
    } ways[] = {{GPU_F32, false}, {GPU_F32, true}, {GPU_F16, true}, {GPU_BF16, true}};
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct gpu_choice choice;
        char reason[GPU_REASON_SIZE];
        struct gpu_conv c = read_conv(line, ways[i].type, ways[i].allows_tf32);
        if (!api->conv_choices(NULL, "sm_90", &c, 1, &choice, reason))
            fail_msg("way %zu of %s: %s", i, line, reason);
        c.x.dim[0] = c.z.dim[0] = 2;
        lay_out_within(&c.x, i > 0, 64);
        lay_out_within(&c.z, i > 0, 32);
        if (!api->conv_choices(NULL, "sm_90", &c, 1, &choice, reason))
            fail_msg("way %zu of %s, within larger tensors: %s", i, line, reason);
    }
}

TEST(plans_the_convolutions_of_the_models)
{
    const struct gpu_api *api = open_plugin();
    FILE *f = fopen(getenv("TASO_CONVOLUTIONS"), "r");
    char line[512];
    int n = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#')
            continue;
        if (n++ % (int)step_of_day() == 0)
            check_line(api, line);
    }
    fclose(f);
    assert_true(n > 200);
}

TEST(refuses_with_a_reason)
{
    char reason[GPU_REASON_SIZE] = "";
    struct gpu_choice choice;
    struct gpu_conv c = conv_of(GPU_F32, false, 64, 1);
    assert_int_equal(open_plugin()->conv_choices(NULL, "sm_1", &c, 1, &choice, reason), 0);
    assert_non_null(strstr(reason, "sm_1"));
    c.z.dim[2] = 5;
    assert_int_equal(open_plugin()->conv_choices(NULL, "sm_90", &c, 1, &choice, reason), 0);
    assert_non_null(strstr(reason, "cuDNN"));
}
