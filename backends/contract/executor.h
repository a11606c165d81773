// Running graphs on a device: a graph is prepared once (weights packed, memory laid out), run, timed and profiled.
#pragma once
#include "backends/contract/choice.h"
#include "backends/contract/packing.h"
#include "backends/planning/plan.h"
#include "core/memory/arena.h"
#include "expressions/value.h"

struct backend;
struct model;
struct workers;

// Values of weights that are in memory only while somebody needs them.
struct weight_source {
    void *context;
    // Acquires the weight with this index, until it is released as often. NULL: error.
    const void *(*acquire)(void *context, size_t index, struct error *error);
    void (*release)(void *context, size_t index, const void *data);
    // The weight packed so, in `bytes` bytes aligned to 64, as long as the source is there; NULL: it has none. NULL
    // instead of the function: it never has.
    const void *(*find_packed)(void *context, size_t index, const struct packing *packing, size_t bytes);
};
// The weights of a graph by the `index` attribute of its weight leaves; those without data come from the source.
struct given_weights {
    size_t count;
    const struct tensor_value *values;
    const struct weight_source *source;   // may be NULL
};
// The bytes that a model reads in every run of a weight that it has packed.
struct packed_weight {
    size_t index;
    struct packing packing;
    const void *data;
    size_t bytes;
};
typedef VEC(struct packed_weight) packed_weights;

// The work of a device. Values that it is given are there, and of the plan's types.
struct executor {
    size_t model_bytes;   // of the device's own model
    // The plan is made, its memory laid out. False: error, and what is there is released.
    bool (*prepare)(struct model *m, const struct given_weights *weights, struct error *error);
    // `workers` may be NULL, and need not be asked. `ret_seconds` (may be NULL): of every step of the plan, 0 before.
    bool (*run)(struct model *m, const struct workers *workers, const struct tensor_value *inputs,
                struct tensor_value *outputs, double *ret_seconds, struct error *error);
    // Runs, with the time of the whole.
    bool (*time)(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, double *ret_seconds,
                 struct error *error);
    // Bytes of the device's own memory, where models are; NULL: they are in the program's.
    size_t (*own_memory)(const struct backend *b);
    // NULL: weights are packed in no way that can be kept.
    void (*list_packed)(const struct model *m, packed_weights *list);
    void (*release)(struct model *m);   // all but what is below
};

// Each device's model begins with this one.
struct model {
    struct backend *backend;
    const struct executor *executor;
    struct arena arena;
    struct plan plan;
    const step_choices *given;   // while it is prepared; NULL: costs choose
};

// The request's arena is not used. NULL: error. A graph with opaque nodes is EXIT_UNSUPPORTED.
struct model *model_prepare(struct backend *b, const struct executor *executor, const struct plan_request *request,
                            const step_choices *given, const struct given_weights *weights, struct error *error);
// Adds the weights that the model packed as a whole, and that may be kept: data lives as long as the model.
void model_list_packed(const struct model *m, packed_weights *list);
// `inputs` by the `index` attribute of input leaves; `outputs` one for each output of the graph, with memory of the
// right size (model_allocate_outputs). Data types and shapes must be the graph's.
bool model_run(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, struct error *error);
// With others' threads (core/system/workers.h), which serve until it returns. A device that was opened as a guest asks
// them alone, where it can: on the processor, where kernels can be generated; else its own threads run.
bool model_run_on(struct model *m, const struct workers *workers, const struct tensor_value *inputs,
                  struct tensor_value *outputs, struct error *error);
// Runs as model_run does, with the time as the device has it: moving inputs and outputs to and from it is left out.
bool model_time(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs, double *ret_seconds,
                struct error *error);
void model_allocate_outputs(const struct model *m, struct tensor_value *ret_outputs, struct arena *arena);
// One run that times every step of the plan (model_plan): `ret_seconds` has one entry for each, 0 for those done once.
bool model_profile(struct model *m, const struct tensor_value *inputs, struct tensor_value *outputs,
                   double *ret_seconds, struct error *error);
const struct plan *model_plan(const struct model *m);
void model_free(struct model *m);   // NULL is allowed
