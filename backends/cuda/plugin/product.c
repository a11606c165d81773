// Matrix products through cuBLASLt.
//
// The library thinks in columns: a row-major z = x * y is for it z' = y' * x', with y first. So its bias, which runs
// along the rows of its result, runs along our columns. Where ours runs along the rows, all matrices are said to stand
// in rows, and x is first. A matrix that stands the other way is marked as transposed.
#include "backends/cuda/plugin/product.h"

#include "backends/cuda/plugin/fail.h"
#include <cublasLt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ALGORITHM_WORDS 8

struct product_plan {
    struct gpu_plan base;
    cublasLtMatmulDesc_t what;
    cublasLtMatrixLayout_t first, second, residual, result;   // without a residual that is z
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace;
    bool has_bias, has_residual, is_x_first;
};

// --- descriptions ----------------------------------------------------------------------------------------------------

static cudaDataType_t data_type(enum gpu_type type)
{
    return type == GPU_F32 ? CUDA_R_32F : type == GPU_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

static cublasLtEpilogue_t epilogue_of(const struct gpu_product *p)
{
    switch (p->activation) {
    case GPU_RELU:
        return p->has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case GPU_GELU_TANH:
        return p->has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
        return p->has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }
}

static bool is_by_columns(const struct gpu_matrix *m)
{
    return m->column_stride != 1;
}

static const struct gpu_matrix *first_of(const struct gpu_product *p)
{
    return p->is_bias_of_rows ? &p->x : &p->y;
}

static const struct gpu_matrix *second_of(const struct gpu_product *p)
{
    return p->is_bias_of_rows ? &p->y : &p->x;
}

#define SETS(function, of, attribute, value)                                                                           \
    (function((of), (attribute), &(value), sizeof(value)) == CUBLAS_STATUS_SUCCESS)

static bool describe_product(const struct gpu_product *p, cublasLtMatmulDesc_t *ret_what)
{
    bool is_tf32 = p->type == GPU_F32 && p->allows_tf32;
    cublasOperation_t first = is_by_columns(first_of(p)) ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = is_by_columns(second_of(p)) ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = epilogue_of(p);
    cudaDataType_t bias = data_type(p->type);
    if (cublasLtMatmulDescCreate(ret_what, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F) !=
        CUBLAS_STATUS_SUCCESS)
        return false;
    return SETS(cublasLtMatmulDescSetAttribute, *ret_what, CUBLASLT_MATMUL_DESC_TRANSA, first) &&
           SETS(cublasLtMatmulDescSetAttribute, *ret_what, CUBLASLT_MATMUL_DESC_TRANSB, second) &&
           SETS(cublasLtMatmulDescSetAttribute, *ret_what, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue) &&
           SETS(cublasLtMatmulDescSetAttribute, *ret_what, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias);
}

static bool describe_matrix(const struct gpu_product *p, const struct gpu_matrix *m, int64_t rows, int64_t columns,
                            cublasLtMatrixLayout_t *ret_layout)
{
    bool turned = is_by_columns(m), in_rows = p->is_bias_of_rows, is_exchanged = turned != in_rows;
    int64_t leading = turned ? m->column_stride : m->row_stride, distance = m->batch_stride;
    int32_t batches = (int32_t)p->batches, order = in_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    if (cublasLtMatrixLayoutCreate(ret_layout, data_type(p->type), (uint64_t)(is_exchanged ? rows : columns),
                                   (uint64_t)(is_exchanged ? columns : rows), leading) != CUBLAS_STATUS_SUCCESS ||
        !SETS(cublasLtMatrixLayoutSetAttribute, *ret_layout, CUBLASLT_MATRIX_LAYOUT_ORDER, order))
        return false;
    return batches == 1 ||
           (SETS(cublasLtMatrixLayoutSetAttribute, *ret_layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batches) &&
            SETS(cublasLtMatrixLayoutSetAttribute, *ret_layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, distance));
}

static void free_product(struct gpu_plan *base)
{
    struct product_plan *p = (struct product_plan *)base;
    if (p->what)
        cublasLtMatmulDescDestroy(p->what);
    if (p->first)
        cublasLtMatrixLayoutDestroy(p->first);
    if (p->second)
        cublasLtMatrixLayoutDestroy(p->second);
    if (p->residual)
        cublasLtMatrixLayoutDestroy(p->residual);
    if (p->result)
        cublasLtMatrixLayoutDestroy(p->result);
    free(p);
}

static struct product_plan *describe(const struct gpu_product *product, char *ret_reason)
{
    struct product_plan *p = calloc(1, sizeof *p);
    p->base.free = free_product;
    p->has_bias = product->has_bias;
    p->has_residual = product->has_residual;
    p->is_x_first = product->is_bias_of_rows;
    cublasLtMatrixLayout_t *x = p->is_x_first ? &p->first : &p->second, *y = p->is_x_first ? &p->second : &p->first;
    if (product->batches <= INT32_MAX && describe_product(product, &p->what) &&
        describe_matrix(product, &product->y, product->k, product->n, y) &&
        describe_matrix(product, &product->x, product->m, product->k, x) &&
        describe_matrix(product, product->has_residual ? &product->residual : &product->z, product->m, product->n,
                        &p->residual) &&
        describe_matrix(product, &product->z, product->m, product->n, &p->result))
        return p;
    plugin_fail(ret_reason, "cuBLASLt cannot describe the product");
    free_product(&p->base);
    return NULL;
}

// --- algorithms ------------------------------------------------------------------------------------------------------

static bool set_preferences(const struct gpu_product *product, cublasLtMatmulPreference_t preference)
{
    size_t workspace = GPU_WORKSPACE_BYTES;
    uint32_t first = (uint32_t)first_of(product)->alignment, second = (uint32_t)second_of(product)->alignment,
             result = (uint32_t)product->z.alignment, residual = 16;
    return SETS(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                workspace) &&
           SETS(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, first) &&
           SETS(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, second) &&
           SETS(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                residual) &&
           SETS(cublasLtMatmulPreferenceSetAttribute, preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result);
}

static int list_algorithms(struct gpu *gpu, const struct gpu_product *product, const struct product_plan *p, int most,
                           cublasLtMatmulHeuristicResult_t *ret_results)
{
    cublasLtMatmulPreference_t preference;
    int n = 0;
    if (cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS)
        return 0;
    if (!set_preferences(product, preference) ||
        cublasLtMatmulAlgoGetHeuristic(gpu->cublas, p->what, p->first, p->second, p->residual, p->result, preference,
                                       most, ret_results, &n) != CUBLAS_STATUS_SUCCESS)
        n = 0;
    cublasLtMatmulPreferenceDestroy(preference);
    return n;
}

// An algorithm is opaque words; as text they are numbers in base 16.
static void name_algorithm(const cublasLtMatmulAlgo_t *algorithm, struct gpu_choice *ret_choice)
{
    size_t used = (size_t)snprintf(ret_choice->text, GPU_CHOICE_SIZE, "algorithm");
    for (int i = 0; i < ALGORITHM_WORDS; i++)
        used += (size_t)snprintf(ret_choice->text + used, GPU_CHOICE_SIZE - used, " %" PRIx64, algorithm->data[i]);
}

static bool find_algorithm(const char *text, cublasLtMatmulAlgo_t *ret_algorithm)
{
    uint64_t *w = ret_algorithm->data;
    return sscanf(text,
                  "algorithm %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
                  " %" SCNx64,
                  &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &w[6], &w[7]) == ALGORITHM_WORDS;
}

int plugin_product_choices(struct gpu *gpu, const struct gpu_product *product, int most, struct gpu_choice *ret_choices,
                           char *ret_reason)
{
    struct product_plan *p = describe(product, ret_reason);
    cublasLtMatmulHeuristicResult_t *results = calloc((size_t)most, sizeof *results);
    int n = p ? list_algorithms(gpu, product, p, most, results) : 0;
    for (int i = 0; i < n; i++)
        name_algorithm(&results[i].algo, &ret_choices[i]);
    if (p && n == 0)
        plugin_fail(ret_reason, "cuBLASLt has no algorithm for it");
    if (p)
        free_product(&p->base);
    free(results);
    return n;
}

// --- plans -----------------------------------------------------------------------------------------------------------

static bool run_product(struct gpu *gpu, const struct gpu_plan *base, const struct gpu_operands *o)
{
    const struct product_plan *p = (const struct product_plan *)base;
    float alpha = 1, beta = p->has_residual ? 1 : 0;
    const void *first = p->is_x_first ? o->x : o->y, *second = p->is_x_first ? o->y : o->x;
    if (p->has_bias && !SETS(cublasLtMatmulDescSetAttribute, p->what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, o->bias))
        return false;
    return cublasLtMatmul(gpu->cublas, p->what, &alpha, first, p->first, second, p->second, &beta,
                          p->has_residual ? o->residual : o->z, p->residual, o->z, p->result, &p->algorithm,
                          o->workspace, p->workspace, gpu->stream) == CUBLAS_STATUS_SUCCESS;
}

static bool choose(struct gpu *gpu, const struct gpu_product *product, struct product_plan *p, const char *choice)
{
    cublasLtMatmulHeuristicResult_t result;
    if (choice && *choice) {
        if (!find_algorithm(choice, &p->algorithm) ||
            cublasLtMatmulAlgoCheck(gpu->cublas, p->what, p->first, p->second, p->residual, p->result, &p->algorithm,
                                    &result) != CUBLAS_STATUS_SUCCESS ||
            result.workspaceSize > GPU_WORKSPACE_BYTES)
            return false;
    } else {
        if (list_algorithms(gpu, product, p, 1, &result) != 1)
            return false;
        p->algorithm = result.algo;
    }
    p->workspace = result.workspaceSize;
    name_algorithm(&p->algorithm, &p->base.choice);
    return true;
}

struct gpu_plan *plugin_plan_product(struct gpu *gpu, const struct gpu_product *product, const char *choice,
                                     char *ret_reason)
{
    struct product_plan *p = describe(product, ret_reason);
    if (!p)
        return NULL;
    p->base.run = run_product;
    if (choose(gpu, product, p, choice))
        return &p->base;
    plugin_fail(ret_reason, "cuBLASLt has no algorithm for it");
    free_product(&p->base);
    return NULL;
}
