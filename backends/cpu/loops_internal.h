// What compiling and running loops share.
//
//   axes of a compiled loop     0 .. rank - 1 of results, then the reduced ones; the innermost of each kind is last
//   a block                     up to VECTOR_BLOCK places on the inner axis; every value is a vector over it, or
//   uniform modes                       maps     blocks of results
//                               columns  blocks of results, one reduction step of all of them at a time
//                               rows     blocks of what is reduced, one result at a time
//                               copies   same element type in and out: moved as bytes
#pragma once
#include "backends/cpu/loops.h"

enum loop_mode { LOOP_MAPS, LOOP_REDUCES_COLUMNS, LOOP_REDUCES_ROWS, LOOP_COPIES };
enum code_form { FORM_VECTORS, FORM_RIGHT, FORM_LEFT, FORM_ONCE, FORM_CONSTANT, FORM_REDUCTION };

struct compiled_access {
    memory_id memory;
    enum dtype dtype;
    int64_t size, offset;   // bytes of an entry; entries
    int64_t stride[LOOP_MAX_RANK], shared_stride[MAX_RANK];
    bool is_uniform, is_direct;   // one number for a block; a vector that need not be loaded
    int slot;
    bool is_repeated;   // along the innermost axis, every `period` places
};
struct compiled_result {
    uint16_t value;
    bool is_in_place;   // an instruction writes there
    struct compiled_access to;
};
struct compiled_code {
    struct instruction instruction;
    enum code_form form;
    vector_function *apply;
    vector_with_scalar *apply_scalar;
    bool is_uniform;
    int slot, result;   // result: where to write instead of the slot, or -1
};
struct compiled_loop {
    enum loop_mode mode;
    int rank, n_reduced;
    int64_t dim[LOOP_MAX_RANK];
    int64_t period;   // blocks of maps begin at multiples of it, and operands may repeat; 0: none does
    int n_operands, n_results, n_code;
    struct compiled_access *operands;
    struct compiled_result *results;
    struct compiled_code *code;
    int reduction;                    // its number in code; n_code: none
    bool *used_before, *used_after;   // operands, by phase (without reduction: before)
    int n_slots, spare_slot;
    double work;
};
// One number for a whole block, not a vector?
static inline bool value_is_uniform(const struct compiled_loop *c, uint16_t value)
{
    return value & VALUE_OF_INSTRUCTION ? c->code[value & ~VALUE_OF_INSTRUCTION].is_uniform
                                        : c->operands[value].is_uniform;
}

struct compiled_loops {
    const struct vector_functions *vector;
    int threads, n_shared, n_loops;
    bool are_independent;   // all loops only copy, none reads what another writes
    int64_t shared[MAX_RANK], n_shared_places;
    struct compiled_loop *loops;
    float *scratch;
    size_t scratch_of_thread;   // floats
};

// Moves a box of entries: dim[0 .. rank) with strides in bytes on both sides; the last axis is the destination's inner.
void copy_box(char *to, const char *from, int rank, const int64_t *dim, const int64_t *to_stride,
              const int64_t *from_stride, int64_t size);
