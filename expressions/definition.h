// The tensor-expression language: what an operator means.
//
// A definition is a short list of *stages*. Each stage is a tensor given by one scalar expression over its own index
// variables; it may read the operator's inputs and earlier stages. Most operators have one stage; softmax has three
// (maximum, sum, result). Some stages are the operator's outputs.
//
//     matmul   z[m,n] = sum(k < K) x[m,k] * y[k,n]
//
// Two sorts of expression share one array of nodes:
//   index expressions   integers:  i   7   i + j   i * 3   i / 3 (floor)   i mod 3   index_of(scalar)
//   scalar expressions  values:    x[index, ...]   2.5   f(a, b)   sum/max/min/prod(k < K) body
//                                  if index >= 0 then a else b   scalar_of(index)
// A read says what it gives outside of the tensor: nothing (it must be inside), 0 (convolution pads), or the lowest
// value (maximum pooling pads). index_of makes an index from data (gather), nearest to it within 2^60 of 0; such a
// definition is data-dependent and has no symbolic meaning.
//
// From a definition follow shapes and split trees, evaluation over every scalar domain (evaluate.h), FLOPs, and text.
#pragma once
#include "core/memory/vec.h"
#include "expressions/type.h"

enum scalar_function {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside) FN_##enumerator,
#include "expressions/functions.def"
#undef FUNCTION
    FN_COUNT
};
const char *function_name(enum scalar_function fn);
int function_arity(enum scalar_function fn);

typedef uint32_t expr;   // an index into definition.nodes

enum expr_kind {
    // index expressions
    EXPR_INTEGER,     // value
    EXPR_VARIABLE,    // value: number of the variable
    EXPR_INDEX_ADD,   // a + b
    EXPR_INDEX_MUL,   // a * value
    EXPR_INDEX_DIV,   // floor(a / value), value > 0
    EXPR_INDEX_MOD,   // a - value * floor(a / value), value > 0
    EXPR_INDEX_OF,    // the integer that scalar a is (rounded toward zero)
    // scalar expressions
    EXPR_REAL,        // real
    EXPR_READ,        // tensor `value` at indices[a .. a + count), outside: enum outside in `b`
    EXPR_APPLY,       // function `fn` of operands a, b, c
    EXPR_REDUCE,      // over variable `value` of body a; fn is one of ADD, MUL, MAX, MIN
    EXPR_SELECT,      // a >= 0 (an index expression) ? b : c
    EXPR_SCALAR_OF,   // index expression a as a scalar
};
enum outside { OUTSIDE_NEVER, OUTSIDE_ZERO, OUTSIDE_LOWEST };

struct expr_node {
    uint8_t kind;     // enum expr_kind
    uint8_t fn;       // enum scalar_function
    uint16_t count;   // READ: number of indices
    union {
        struct {
            expr a, b, c;
        };
        expr operands[3];
    };
    int64_t value;
    double real;
};

#define MAX_OUTPUTS 64

struct stage {
    struct type type;
    uint32_t first_variable;   // index variables first_variable .. + rank
    expr body;
    bool has_body;
};

struct definition {
    struct arena *arena;   // for split trees
    int n_inputs;
    const struct type *inputs;
    VEC(struct expr_node) nodes;
    VEC(expr) indices;      // of all reads
    VEC(int64_t) extents;   // of every variable
    int n_stages, n_outputs;
    struct stage *stages;   // arena; capacity `stage_capacity`
    int stage_capacity;
    uint16_t outputs[MAX_OUTPUTS];   // stage of each output
    bool is_data_dependent;
    bool is_silent;     // nobody asks for reasons
    char reason[200];   // why the application is ill-typed
};

// `inputs` must outlive the definition. The vectors are owned: definition_free.
void definition_init(struct definition *d, struct arena *arena, int n_inputs, const struct type *inputs);
void definition_clear(struct definition *d, int n_inputs, const struct type *inputs);   // reuse, keeping memory
void definition_free(struct definition *d);

// Refusal: `return refuse(d, "rank %d", r);` records the reason and returns false.
bool refuse(struct definition *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

// --- building --------------------------------------------------------------------------------------------------------
// Stages are numbered as tensors after the inputs: a stage's tensor number is what stage_add returns, for reading. The
// type's split trees are derived from the body unless given (see definition_finish).
// An intermediate tensor. Of 16-bit numbers it has f32 elements: sums and squares of them are no 16-bit numbers.
int stage_add(struct definition *d, enum dtype dtype, int rank, const int64_t *dim);
int output_add(struct definition *d, enum dtype dtype, int rank, const int64_t *dim);   // an output tensor
void stage_set_body(struct definition *d, int tensor, expr body);
struct type *stage_type(struct definition *d, int tensor);   // to be changed
expr stage_index(struct definition *d, int tensor, int axis);
// An intermediate tensor of just this type, over variables that there are.
int stage_add_over(struct definition *d, const struct type *type, uint32_t first_variable);

expr index_integer(struct definition *d, int64_t value);
expr index_variable(struct definition *d, uint32_t variable);
expr index_add(struct definition *d, expr a, expr b);
expr index_offset(struct definition *d, expr a, int64_t offset);   // a + offset
expr index_mul(struct definition *d, expr a, int64_t factor);
expr index_div(struct definition *d, expr a, int64_t divisor);
expr index_mod(struct definition *d, expr a, int64_t divisor);
expr index_of(struct definition *d, expr scalar);   // makes the definition data-dependent

expr scalar_real(struct definition *d, double value);
expr scalar_of(struct definition *d, expr index);
expr scalar_read(struct definition *d, int tensor, const expr *index);   // must be inside
expr scalar_read_or(struct definition *d, int tensor, const expr *index, enum outside outside);
expr scalar_apply(struct definition *d, enum scalar_function fn, expr a, expr b, expr c);   // unused operands: 0
expr scalar_add(struct definition *d, expr a, expr b);
expr scalar_sub(struct definition *d, expr a, expr b);
expr scalar_mul(struct definition *d, expr a, expr b);
expr scalar_div(struct definition *d, expr a, expr b);
expr scalar_unary(struct definition *d, enum scalar_function fn, expr a);
expr scalar_select(struct definition *d, expr index, expr if_not_negative, expr otherwise);
expr reduce_variable(struct definition *d, int64_t extent);   // a fresh variable, to be bound by scalar_reduce
expr scalar_reduce(struct definition *d, enum scalar_function fn, expr variable, expr body);
// The tensor at the output's own indices: what element-wise operators read.
expr scalar_read_same(struct definition *d, int tensor, int like);

// --- using -----------------------------------------------------------------------------------------------------------
const struct type *definition_tensor(const struct definition *d, int64_t tensor);   // an input, or n_inputs + stage
const struct type *definition_output(const struct definition *d, int output);
// The expressions right below one: operands, what is reduced, condition and branches, the indices of a read.
struct operands {
    uint32_t n;
    const expr *items;   // until a node is added
};
struct operands expr_operands(const struct definition *d, expr e);
struct operands scalar_operands(const struct definition *d, expr e);   // of a scalar one those that are scalar ones
bool definition_mentions(const struct definition *d, expr e, int64_t variable);
// Derives the split trees of all stages: an axis whose variable alone indexes an axis of equal size of what is read
// takes the meet of those axes' trees; one whose variable does not occur, along which the stage is constant, fits any
// split (SPLIT_ANY). Called once by operator_define; axes whose tree was set keep it.
void definition_finish(struct definition *d);
// An index at given values of all variables. The definition must not be data-dependent.
int64_t index_value(const struct definition *d, expr index, const int64_t *variables);
// Scalar operations; each sum and maximum, also one within another, takes one for each of its terms.
double definition_flops(const struct definition *d);
// The least operations needed: of the terms of a sum, nested or not, one less are added, so that products of matrices
// and convolutions take two for each multiply-add.
double definition_least_flops(const struct definition *d);
