// A step's operations behind its operator: as post-operations of the library, or as loops of their own.
#pragma once
#include "backends/cpu/kernel.h"

// Post-operations of a step: `act` of its operator, then its epilogue; a first addition along the channels becomes the
// bias (its operand number of the epilogue, else -1).
struct cpu_epilogue {
    struct postops ops;
    int bias;
    int n_operands, operands[POSTOPS_MAX];   // of the epilogue's loop, in the order of the operations that have one
};
bool cpu_has_activation(const struct graph *g, const struct step *step);   // of its operator's own
bool cpu_read_epilogue(const struct graph *g, const struct step *step, const struct loop *loop, int channel_axis,
                       struct cpu_epilogue *ret_epilogue);
void cpu_epilogue_arguments(const struct cpu_epilogue *e, const struct loop *loop, char *const *memory,
                            struct onednn_arguments *ret_arguments);
// The epilogue as loops of its own behind the operator, generated where that is worth it; NULL: there is none.
struct cpu_behind;
struct cpu_behind *cpu_prepare_behind(const struct step_request *r);
void cpu_run_behind(const struct cpu_behind *behind, const struct execution *e);   // NULL is allowed
