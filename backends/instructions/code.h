// The form of a definition whose every read is affine: straight-line code over the entries read.
//
// A stage becomes   variables   v0 .. v(rank-1): the result's indices; then those that are reduced
//                   reads       tensor, and for each of its axes   base + sum coefficient * variable
//                   values      a read's number, or VALUE_OF_INSTRUCTION | an instruction's number
//                   result      the value that is stored
// An instruction applies a scalar function to values, is a constant, or is the reduction of a value over the stage's
// reduced variables: instructions before that one run for each place, those after it once for each result.
#pragma once
#include "operators/operator.h"

#define VALUE_OF_INSTRUCTION 0x8000
enum instruction_kind { INSTRUCTION_APPLY, INSTRUCTION_CONSTANT, INSTRUCTION_REDUCE };
struct instruction {
    uint8_t kind, fn;   // fn: of APPLY and REDUCE
    uint16_t a, b, c;   // values; unused ones are 0
    double constant;
};
struct affine_term {
    uint8_t axis, variable;
    int64_t coefficient;
};
struct affine_read {
    int tensor;   // input of the operator, or n_inputs + stage
    int n_terms;
    const struct affine_term *terms;
    int64_t base[MAX_RANK];
};
#define CODE_MAX_READS 12
#define CODE_MAX_INSTRUCTIONS 40
struct stage_code {
    struct type type;
    int n_reduced;
    int64_t reduced[MAX_RANK];
    int n_reads, n_instructions;
    const struct affine_read *reads;
    const struct instruction *instructions;
    uint16_t result;
};
enum code_kind {
    CODE_NONE,     // not of this form: windows with borders, divided indices, indices from data, other element types
    CODE_VIEW,     // every output is a bare read of the only input: the same entries, arranged differently
    CODE_MAP,      // one stage without reduction
    CODE_STAGES,   // several stages or reductions
};
struct code {
    enum code_kind kind;
    int n_inputs, n_stages, n_outputs;
    const struct stage_code *stages;
    uint16_t outputs[MAX_OUTPUTS];   // stage of each output
    const struct type *output_types;
};

// Everything is allocated in `arena`. Code for values is made where single precision serves: element types f32, f16,
// bf16 and bool (and conversions of any type to these). Views are made for every type.
void code_from_definition(const struct definition *d, struct arena *arena, struct code *ret_code);
// Does the read give the entry at the result's own indices?
bool read_is_identity(const struct affine_read *read, const struct type *source, const struct type *result);
