// The part that all oneDNN primitives share: the engine, descriptions of views, and attributes made of epilogues.
#include "backends/cpu/onednn/onednn.h"

#include "backends/cpu/onednn/onednn_version.h"
#include "backends/cpu/onednn/parts.h"
#include "core/memory/memory.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    int parts;   // of a primitive
    onednn_for_parts *for_parts;
};
enum { SOURCE, WEIGHTS, BIAS, TARGET, SCRATCH, OPERANDS, MOST_ARGUMENTS = OPERANDS + POSTOPS_MAX };
struct onednn_primitive {
    struct onednn *library;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    int n_operands;
    dnnl_exec_arg_t arguments[MOST_ARGUMENTS];   // by the enumeration above; memory is NULL where there is none
    struct part *parts;                          // that run instead of the primitive, or NULL
    int n_parts;
};
struct part {
    struct onednn_primitive *primitive;
    struct onednn *library;      // of its own: nothing is said of primitives that share a stream
    size_t at[MOST_ARGUMENTS];   // of what the whole is given, in bytes
};

struct onednn *onednn_open(int parts, onednn_for_parts *for_parts)
{
    struct onednn *o = mem_alloc_zero(sizeof *o);
    o->parts = parts;
    o->for_parts = for_parts;
    if (dnnl_engine_create(&o->engine, dnnl_cpu, 0) == dnnl_success &&
        dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags) == dnnl_success)
        return o;
    onednn_close(o);
    return NULL;
}

void onednn_use_parts(struct onednn *o, int parts)
{
    o->parts = parts;
}

void onednn_close(struct onednn *o)
{
    if (!o)
        return;
    if (o->stream)
        dnnl_stream_destroy(o->stream);
    if (o->engine)
        dnnl_engine_destroy(o->engine);
    mem_free(o, sizeof *o);
}

// The library keeps up to a thousand, with their code: a search's measurements leave as many that no model needs. Its
// cache is one of the process, and so is what guards that two threads do not take the capacity in between for its own.
void onednn_forget_primitives(void)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    int capacity;
    pthread_mutex_lock(&turn);
    if (dnnl_get_primitive_cache_capacity(&capacity) == dnnl_success &&
        dnnl_set_primitive_cache_capacity(0) == dnnl_success)
        dnnl_set_primitive_cache_capacity(capacity);
    pthread_mutex_unlock(&turn);
}

int onednn_block_of_channels(void)
{
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core ? 16 : 8;
}

dnnl_format_tag_t onednn_tag(const struct onednn_tensor *t)
{
    static const dnnl_format_tag_t tags[2][3] = {{dnnl_nCw8c, dnnl_nChw8c, dnnl_nCdhw8c},
                                                 {dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c}};
    return t->is_free ? dnnl_format_tag_any : tags[t->block == 16][t->rank - 3];
}

void onednn_version(int *ret_major, int *ret_minor, int *ret_patch)
{
    const dnnl_version_t *version = dnnl_version();
    *ret_major = version->major;
    *ret_minor = version->minor;
    *ret_patch = version->patch;
}

// --- post-operations -------------------------------------------------------------------------------------------------

static const dnnl_alg_kind_t algorithms[] = {
    [POSTOP_LINEAR] = dnnl_eltwise_linear,
    [POSTOP_RELU] = dnnl_eltwise_relu,
    [POSTOP_CLIP] = dnnl_eltwise_clip,
    [POSTOP_SIGMOID] = dnnl_eltwise_logistic,
    [POSTOP_TANH] = dnnl_eltwise_tanh,
    [POSTOP_GELU_ERF] = dnnl_eltwise_gelu_erf,
    [POSTOP_GELU_TANH] = dnnl_eltwise_gelu_tanh,
    [POSTOP_SILU] = dnnl_eltwise_swish,
    [POSTOP_HARDSWISH] = dnnl_eltwise_hardswish,
    [POSTOP_ABS] = dnnl_eltwise_abs,
    [POSTOP_SQRT] = dnnl_eltwise_sqrt,
    [POSTOP_EXP] = dnnl_eltwise_exp,
    [POSTOP_ADD] = dnnl_binary_add,
    [POSTOP_SUB] = dnnl_binary_sub,
    [POSTOP_MUL] = dnnl_binary_mul,
    [POSTOP_DIV] = dnnl_binary_div,
    [POSTOP_MAX] = dnnl_binary_max,
    [POSTOP_MIN] = dnnl_binary_min,
};

// The values that the library wants as alpha and beta of a curve.
static void curve_parameters(const struct postop *op, float *ret_alpha, float *ret_beta)
{
    bool has_parameters = op->kind == POSTOP_LINEAR || op->kind == POSTOP_CLIP;
    *ret_alpha = has_parameters ? op->alpha : 0;
    *ret_beta = has_parameters ? op->beta : 0;
    if (op->kind == POSTOP_SILU)
        *ret_alpha = 1;
    if (op->kind == POSTOP_HARDSWISH) {
        *ret_alpha = 1.0f / 6;
        *ret_beta = 0.5f;
    }
}

static struct onednn_tensor tensor_of_operand(const struct postops *ops, const struct postop *op,
                                              const struct onednn_tensor *target)
{
    struct onednn_tensor t = *target;
    t.block = op->operand == OPERAND_FULL ? target->block : 0;
    for (int i = t.rank - 1; op->operand != OPERAND_FULL && i >= 0; i--) {
        bool is_kept = op->operand == OPERAND_CHANNEL && i == ops->channel_axis;
        t.dim[i] = is_kept ? target->dim[i] : 1;
        t.stride[i] = is_kept || i > ops->channel_axis ? 1 : t.dim[ops->channel_axis];
    }
    return t;
}

static bool append_operand(struct onednn_primitive *p, dnnl_post_ops_t list, int index, const struct postops *ops,
                           const struct onednn_tensor *target)
{
    const struct postop *op = &ops->items[index];
    struct onednn_tensor t = tensor_of_operand(ops, op, target);
    onednn_desc desc = onednn_desc_make(&t);
    dnnl_exec_arg_t *argument = &p->arguments[OPERANDS + p->n_operands];
    argument->arg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(index) | DNNL_ARG_SRC_1;
    bool is_done = desc && dnnl_post_ops_append_binary(list, algorithms[op->kind], desc) == dnnl_success &&
                   dnnl_memory_create(&argument->memory, desc, p->library->engine, DNNL_MEMORY_NONE) == dnnl_success;
    onednn_desc_free(desc);
    p->n_operands++;
    return is_done;
}

static bool append_postops(struct onednn_primitive *p, dnnl_post_ops_t list, const struct postops *ops,
                           const struct onednn_tensor *target)
{
    for (int i = 0; ops && i < ops->n; i++) {
        const struct postop *op = &ops->items[i];
        float alpha, beta;
        curve_parameters(op, &alpha, &beta);
        if (op->operand == OPERAND_NONE ? onednn_append_curve(list, algorithms[op->kind], alpha, beta) != dnnl_success
                                        : !append_operand(p, list, i, ops, target))
            return false;
    }
    return true;
}

static bool make_attributes(struct onednn_primitive *p, const struct postops *ops, const struct onednn_tensor *target,
                            dnnl_primitive_attr_t *ret_attributes)
{
    dnnl_post_ops_t list = NULL;
    bool is_done =
        dnnl_primitive_attr_create(ret_attributes) == dnnl_success &&
        dnnl_primitive_attr_set_scratchpad_mode(*ret_attributes, dnnl_scratchpad_mode_user) == dnnl_success &&
        dnnl_post_ops_create(&list) == dnnl_success && append_postops(p, list, ops, target) &&
        dnnl_primitive_attr_set_post_ops(*ret_attributes, list) == dnnl_success;
    if (list)
        dnnl_post_ops_destroy(list);
    return is_done;
}

// --- primitives ------------------------------------------------------------------------------------------------------

static bool make_argument(struct onednn_primitive *p, int which, int arg, dnnl_query_t what, int index)
{
    onednn_desc desc = dnnl_primitive_desc_query_md(p->desc, what, index);
    p->arguments[which].arg = arg;
    return desc &&
           dnnl_memory_create(&p->arguments[which].memory, desc, p->library->engine, DNNL_MEMORY_NONE) == dnnl_success;
}

static bool finish_primitive(struct onednn_primitive *p, bool has_weights, bool has_bias)
{
    return make_argument(p, SOURCE, DNNL_ARG_SRC, dnnl_query_src_md, 0) &&
           make_argument(p, TARGET, DNNL_ARG_DST, dnnl_query_dst_md, 0) &&
           make_argument(p, SCRATCH, DNNL_ARG_SCRATCHPAD, dnnl_query_scratchpad_md, 0) &&
           (!has_weights || make_argument(p, WEIGHTS, DNNL_ARG_WEIGHTS, dnnl_query_weights_md, 0)) &&
           (!has_bias || make_argument(p, BIAS, DNNL_ARG_BIAS, dnnl_query_weights_md, 1)) &&
           dnnl_primitive_create(&p->primitive, p->desc) == dnnl_success;
}

void onednn_dilation_from_zero(const struct onednn_request *r, dnnl_dims_t ret_dilation)
{
    for (int i = 0; i < r->source->rank - 2; i++)
        ret_dilation[i] = r->window->dilation[i] - 1;
}

static onednn_desc desc_of(const struct onednn_tensor *t)
{
    return t ? onednn_desc_make(t) : NULL;
}

static struct onednn_primitive *make_whole(struct onednn *o, const struct onednn_request *r)
{
    struct onednn_primitive *p = mem_alloc_zero(sizeof *p);
    dnnl_primitive_attr_t attributes = NULL;
    struct onednn_descs d = {desc_of(r->source), desc_of(r->weights), desc_of(r->bias), desc_of(r->target)};
    p->library = o;
    bool is_done = d.source && d.target && (d.weights || !r->weights) && (d.bias || !r->bias) &&
                   make_attributes(p, r->ops, r->target, &attributes) &&
                   onednn_describe(&p->desc, o->engine, r, &d, attributes) == dnnl_success &&
                   finish_primitive(p, r->weights != NULL, r->bias != NULL);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    onednn_desc_free(d.source);
    onednn_desc_free(d.target);
    onednn_desc_free(d.weights);
    onednn_desc_free(d.bias);
    if (is_done)
        return p;
    onednn_free(p);
    return NULL;
}

// --- parts -----------------------------------------------------------------------------------------------------------

static const char *name_of_kernel(const struct onednn_primitive *p)
{
    const char *name = "";
    dnnl_primitive_desc_query(p->desc, dnnl_query_impl_info_str, 0, (void *)&name);
    return name;
}

static bool find_weights(const struct onednn_primitive *whole, const struct onednn_request *r,
                         const struct onednn_primitive *own, struct onednn_part *part)
{
    struct packing all, some;
    return !r->weights || !r->weights->is_free ||
           (onednn_describe_weights(whole, &all) && onednn_describe_weights(own, &some) &&
            onednn_find_weights(part, &all, &some, &part->weights_at));
}

static void place_arguments(struct part *p, const struct onednn_part *part, size_t *scratch)
{
    const int64_t at[] = {part->source_at, part->weights_at, part->bias_at, part->target_at};
    for (int i = 0; i < SCRATCH; i++)
        p->at[i] = (size_t)at[i] * sizeof(float);
    p->at[SCRATCH] = *scratch;
    for (int i = 0; i < p->primitive->n_operands; i++)
        p->at[OPERANDS + i] = (size_t)part->operands_at[i] * sizeof(float);
    *scratch += (onednn_scratch_bytes(p->primitive) + 63) / 64 * 64;
}

// False: the library would run the part otherwise than the whole, or its weights are no run of the whole's.
static bool make_part(struct onednn_primitive *whole, const struct onednn_request *r, int number, size_t *scratch)
{
    struct part *p = &whole->parts[number];
    struct onednn_part part;
    onednn_make_part(r, number, whole->n_parts, &part);
    p->library = onednn_open(1, NULL);
    p->primitive = p->library ? make_whole(p->library, &part.request) : NULL;
    if (!p->primitive || strcmp(name_of_kernel(p->primitive), name_of_kernel(whole)) != 0 ||
        !find_weights(whole, r, p->primitive, &part))
        return false;
    place_arguments(p, &part, scratch);
    return true;
}

static void free_parts(struct onednn_primitive *p)
{
    for (int i = 0; p->parts && i < p->n_parts; i++) {
        onednn_free(p->parts[i].primitive);
        onednn_close(p->parts[i].library);
    }
    if (p->parts)
        mem_free(p->parts, (size_t)p->n_parts * sizeof *p->parts);
    p->parts = NULL;
}

static void make_parts(struct onednn_primitive *whole, const struct onednn_request *r)
{
    size_t scratch = 0;
    int n = onednn_count_parts(r, whole->library->parts);
    if (n == 1)
        return;
    whole->n_parts = n;
    whole->parts = mem_alloc_zero((size_t)n * sizeof *whole->parts);
    bool is_done = ALL(int, i, n, make_part(whole, r, i, &scratch));
    if (!is_done)
        free_parts(whole);
}

// Fewer columns may be arranged otherwise than all.
static struct onednn_primitive *make_primitive(struct onednn *o, const struct onednn_request *r)
{
    struct onednn_primitive *p = make_whole(o, r);
    struct onednn_request by_rows = *r;
    by_rows.keeps_columns = true;
    if (p)
        make_parts(p, r);
    if (p && !p->parts && r->kind == MATMUL)
        make_parts(p, &by_rows);
    return p;
}

struct onednn_primitive *onednn_convolution(struct onednn *o, enum onednn_algorithm algorithm,
                                            const struct onednn_tensor *source, const struct onednn_tensor *weights,
                                            const struct onednn_tensor *bias, const struct onednn_tensor *target,
                                            const struct onednn_window *window, const struct postops *ops)
{
    static const dnnl_alg_kind_t algorithms_of_convolution[] = {
        [ONEDNN_DIRECT] = dnnl_convolution_direct, [ONEDNN_WINOGRAD] = dnnl_convolution_winograd};
    return make_primitive(o, &(struct onednn_request){.kind = CONVOLUTION,
                                                      .algorithm = (int)algorithms_of_convolution[algorithm],
                                                      .source = source,
                                                      .weights = weights,
                                                      .bias = bias,
                                                      .target = target,
                                                      .window = window,
                                                      .ops = ops});
}

struct onednn_primitive *onednn_matmul(struct onednn *o, const struct onednn_tensor *source,
                                       const struct onednn_tensor *weights, const struct onednn_tensor *bias,
                                       const struct onednn_tensor *target, const struct postops *ops)
{
    return make_primitive(
        o, &(struct onednn_request){
               .kind = MATMUL, .source = source, .weights = weights, .bias = bias, .target = target, .ops = ops});
}

struct onednn_primitive *onednn_pooling(struct onednn *o, enum onednn_pooling kind, const struct onednn_tensor *source,
                                        const struct onednn_tensor *target, const struct onednn_window *window)
{
    static const dnnl_alg_kind_t kinds[] = {[ONEDNN_MAXIMUM] = dnnl_pooling_max,
                                            [ONEDNN_MEAN_OF_INSIDE] = dnnl_pooling_avg_exclude_padding,
                                            [ONEDNN_MEAN_OF_ALL] = dnnl_pooling_avg_include_padding};
    return make_primitive(
        o, &(struct onednn_request){
               .kind = POOLING, .source = source, .target = target, .window = window, .algorithm = (int)kinds[kind]});
}

struct onednn_primitive *onednn_lrn(struct onednn *o, const struct onednn_tensor *source,
                                    const struct onednn_tensor *target, const struct onednn_lrn *lrn)
{
    return make_primitive(o, &(struct onednn_request){.kind = LRN, .source = source, .target = target, .lrn = lrn});
}

void onednn_free(struct onednn_primitive *p)
{
    if (!p)
        return;
    free_parts(p);
    for (int i = 0; i < MOST_ARGUMENTS; i++)
        if (p->arguments[i].memory)
            dnnl_memory_destroy(p->arguments[i].memory);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    if (p->desc)
        dnnl_primitive_desc_destroy(p->desc);
    mem_free(p, sizeof *p);
}

int onednn_parts(const struct onednn_primitive *p)
{
    return p->parts ? p->n_parts : 1;
}

static size_t bytes_of(const struct onednn_primitive *p, dnnl_query_t what)
{
    onednn_desc desc = p ? dnnl_primitive_desc_query_md(p->desc, what, 0) : NULL;
    return desc ? dnnl_memory_desc_get_size(desc) : 0;
}

size_t onednn_scratch_bytes(const struct onednn_primitive *p)
{
    const struct part *last = p && p->parts ? &p->parts[p->n_parts - 1] : NULL;
    return last ? last->at[SCRATCH] + onednn_scratch_bytes(last->primitive) : bytes_of(p, dnnl_query_scratchpad_md);
}

size_t onednn_weights_bytes(const struct onednn_primitive *p)
{
    return bytes_of(p, dnnl_query_weights_md);
}

bool onednn_describe_weights(const struct onednn_primitive *p, struct packing *ret_packing)
{
    onednn_desc desc = dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
    return desc && onednn_desc_read(desc, ret_packing);
}

// Kernels that are made of products, or of the definition, are slow.
bool onednn_applies_slowly(const struct onednn_primitive *p)
{
    const char *name = name_of_kernel(p);
    return strstr(name, "gemm") || strstr(name, "ref");
}

bool onednn_is_reference(const struct onednn_primitive *p)
{
    return strncmp(name_of_kernel(p), "ref", 3) == 0;
}

// --- running ---------------------------------------------------------------------------------------------------------

bool onednn_pack_weights(struct onednn_primitive *p, const struct onednn_tensor *plain, const void *from, void *to)
{
    dnnl_engine_t engine = p->library->engine;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, NULL}, {DNNL_ARG_TO, NULL}};
    onednn_desc source = onednn_desc_make(plain),
                target = dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
    bool is_done = source && dnnl_memory_create(&arguments[0].memory, source, engine, (void *)from) == dnnl_success &&
                   dnnl_memory_create(&arguments[1].memory, target, engine, to) == dnnl_success &&
                   dnnl_reorder_primitive_desc_create(&desc, source, engine, target, engine, NULL) == dnnl_success &&
                   dnnl_primitive_create(&reorder, desc) == dnnl_success &&
                   dnnl_primitive_execute(reorder, p->library->stream, 2, arguments) == dnnl_success &&
                   dnnl_stream_wait(p->library->stream) == dnnl_success;
    for (int i = 0; i < 2; i++)
        if (arguments[i].memory)
            dnnl_memory_destroy(arguments[i].memory);
    if (reorder)
        dnnl_primitive_destroy(reorder);
    if (desc)
        dnnl_primitive_desc_destroy(desc);
    onednn_desc_free(source);
    return is_done;
}

static void *address_of(const struct onednn_arguments *a, int which)
{
    void *const addresses[] = {a->source, a->weights, a->bias, a->target, a->scratch};
    return which < OPERANDS ? addresses[which] : a->operands[which - OPERANDS];
}

// `at`: bytes beyond each of the addresses.
static bool run_whole(struct onednn_primitive *p, const struct onednn_arguments *a, const size_t *at)
{
    dnnl_exec_arg_t arguments[MOST_ARGUMENTS];
    int n = 0;
    for (int i = 0; i < OPERANDS + p->n_operands; i++) {
        if (!p->arguments[i].memory)
            continue;
        if (dnnl_memory_set_data_handle(p->arguments[i].memory, (char *)address_of(a, i) + at[i]) != dnnl_success)
            return false;
        arguments[n++] = p->arguments[i];
    }
    return dnnl_primitive_execute(p->primitive, p->library->stream, n, arguments) == dnnl_success &&
           dnnl_stream_wait(p->library->stream) == dnnl_success;
}

struct parts_run {
    struct onednn_primitive *whole;
    const struct onednn_arguments *arguments;
    atomic_bool has_failed;
};

static void run_part(void *context, int part, int parts)
{
    struct parts_run *r = context;
    const struct part *p = &r->whole->parts[part];
    (void)parts;
    if (!run_whole(p->primitive, r->arguments, p->at))
        r->has_failed = true;
}

bool onednn_run(struct onednn_primitive *p, const struct workers *workers, const struct onednn_arguments *a)
{
    static const size_t nowhere[MOST_ARGUMENTS];
    struct parts_run r = {p, a, false};
    if (!p->parts)
        return run_whole(p, a, nowhere);
    p->library->for_parts(workers, p->n_parts, run_part, &r);
    return !r.has_failed;
}
