// A device: what graphs cost there (it is a coster, by planning), and, where the device is here, running them.
//
//   struct backend *b = cpu_backend_open(&options, &error);       a device (backends/cpu, backends/fake, ...)
//   backend_estimate(b, graph, &estimate)                          sum over the plan's steps of their measured costs
//   struct model *m = backend_prepare(b, graph, ...)               weights packed, memory laid out
//   model_run(m, inputs, outputs)                                  synchronous (contract/executor.h)
//   backend_close(b)                                               writes the cost database
//
// A graph is planned (plan.h), never interpreted: what a step costs is known by the step's text, so that costs are
// measured once per device and shared by all graphs of a search.
#pragma once
#include "backends/contract/choice.h"
#include "backends/contract/coster.h"
#include "backends/contract/executor.h"
#include "backends/contract/roofs.h"

struct backend;
struct cost_database;
struct error;
struct in_model_notes;
struct layout_memory;
struct log;
struct step_memory;

// Which layouts the tensors of a graph get, where the device can choose.
enum layout_policy {
    LAYOUTS_STANDARD,   // by rule, without asking for costs: channels last between operators on images, row-major else
    LAYOUTS_BEST,       // those of least cost for this graph (layout.h)
    LAYOUTS_PLAIN,      // row-major all (NCHW), as models store them
};
extern const char *const layout_policy_names[];   // "standard", "best", "plain", NULL

struct backend_options {
    int threads;             // 0: as many as there are cores
    const char *cost_file;   // NULL: in the user's cache folder; "" : none
    const char *kernels;     // a file of generated kernels, which are not compiled then (cpu_write_kernels); NULL: none
    bool allows_tf32;        // products of f32 on tensor cores that drop bits (cuda)
    bool owns_process;       // its code may leave memory while models run: for programs alone (code_pages.h)
    bool never_measures;     // steps that the database lacks are guessed (roofline) and counted, not measured
    double seconds_per_step;   // of measuring; 0: the standard
    double error_budget;       // that the errors of a model's inexact choices may add up to; 0: it takes none
    const struct log *log;     // may be NULL
    const struct weight_source *weights;   // for models whose weights are given without data; may be NULL
};

struct step_cost {
    double seconds;                 // median
    double spread;                  // interquartile range as a share of the median
    bool is_guessed, is_doubtful;   // doubtful: other programs came between, so it is to be measured again
    bool is_in_model;               // taken from a running model
    bool is_old;                    // read from the database, not measured by this program
    double error;                   // what an inexact choice errs more than exact ones, as a share; 0: exact
    char choice[CHOICE_SIZE];       // how the device ran it, where it had several ways; empty otherwise
};
// What a device implements.
struct backend_methods {
    const char *name;   // "cpu"
    // Costs are computed, so each step has its own. Else steps that are alike share what one was measured to cost
    // (step_print_key).
    bool has_exact_costs;
    bool has_inexact_choices;
    bool knows_small_models;   // what is measured depends on backend_expect_model
    // Adds the ways to run a step. NULL: there is one for each, the standard one.
    void (*list_choices)(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
    // The cost of a step of a plan, by running it on random data or by knowing it, in the best way of some of one
    // precision, whose error is measured, too, unless *ret_cost has that choice and its error already. What takes many
    // times `best` seconds need not be known well.
    // False: the device failed at it.
    bool (*measure)(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    double best, struct step_cost *ret_cost, struct error *error);
    // A guess, where the cost is not known and may not be measured. NULL: that of a small processor.
    double (*guess)(const struct backend *b, const struct plan *plan, const struct step *step);
    // False: they are not known, and not to be measured. NULL: they never are.
    bool (*roofs)(struct backend *b, struct roofs *ret_roofs);
    const struct executor *executor;   // NULL: the device is not here, only its costs are
    void (*rest)(struct backend *b);   // NULL: nothing to give back (backend_rest)
    void (*close)(struct backend *b);
};
enum cost_repairs { REPAIRS_NOTHING, REPAIRS_DOUBTFUL, REPAIRS_ALL };

// Each device's struct begins with this one.
struct backend {
    struct coster coster;
    const struct backend_methods *methods;
    struct plan_target target;
    struct backend_options options;
    enum layout_policy policy;   // of estimates and models; may be changed at any time
    bool has_small_model;        // (backend_expect_model)
    enum cost_repairs repairs;   // which costs of the database are measured again when they are asked for first
    double repairs_end;          // on clock_seconds, when no more are; 0: never
    bool meets_inexact;          // some step may run faster by a choice that is inexact
    bool only_recalls;           // steps that the database lacks are not estimated at all; may be changed at any time
    char device[256];            // what costs depend on: processor, threads, library and its version
    struct code_cache *codes;
    struct cost_database *costs;
    struct step_memory *memory;   // costs of steps met so far
    uint32_t cost_edition;        // what was computed of costs of an earlier one is computed again
    struct layout_memory *layout_memory;
    struct in_model_notes *in_model;   // (in_model.h)
    struct arena *scratch;             // of estimates, kept for its memory
};

// --- cost ------------------------------------------------------------------------------------------------------------

// False: the graph cannot be planned (opaque nodes), or a step failed on the device. Not for several threads at once.
bool backend_estimate(struct backend *b, const struct graph *g, struct estimate *ret_estimate, struct error *error);
// With given layouts, whatever the policy (plan_request).
bool backend_estimate_with(struct backend *b, const struct graph *g, const uint8_t *layouts,
                           struct estimate *ret_estimate, struct error *error);
// The cost of one step of a plan made for this backend: from memory, the database, or measured now. That of its choice,
// and where nothing is chosen yet the least that is possible.
bool backend_step_cost(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                       struct error *error);
// What is known of a step: true, with its cost, without measuring anything.
bool backend_recall_cost(struct backend *b, const struct plan *plan, const struct step *step,
                         struct step_cost *ret_cost);
// Says how many bytes the models to come have in weights. Steps with weights of small models, whose weights stay in the
// caches from run to run, have costs of their own. To be said before anything is estimated.
void backend_expect_model(struct backend *b, size_t weight_bytes);
// Writes the cost database now. False: it cannot be written. That is tried again when the backend is closed, with a
// warning, but not after the last time.
bool backend_save_costs(struct backend *b, struct error *error);
bool backend_save_costs_last(struct backend *b, struct error *error);
// Calls `visit` for every step of the graph's plan that runs each time, in order.
typedef void visit_step_fn(void *context, const struct plan *plan, const struct step *step,
                           const struct step_cost *cost);
bool backend_visit_steps(struct backend *b, const struct graph *g, visit_step_fn *visit, void *context,
                         struct error *error);
// Equal for graphs and policies that come to the same steps with the same layouts. False: the graph cannot be planned.
bool backend_hash_plan(struct backend *b, const struct graph *g, uint64_t *ret_hash, struct error *error);
// One line per step with its cost, most expensive first; for people.
bool backend_explain(struct backend *b, const struct graph *g, struct text *out, struct error *error);
// The steps alone whose costs are guessed.
bool backend_list_guesses(struct backend *b, const struct graph *g, struct text *out, struct error *error);

// Is there memory on this machine to run the graph, if it can be planned? Else EXIT_UNSUPPORTED. `ret_bytes`: how much
// that takes, with standard layouts; may be NULL.
bool backend_has_room(struct backend *b, const struct graph *g, size_t *ret_bytes, struct error *error);
// False: costs of this device are known or guessed, but nothing can be run (backend_prepare refuses).
bool backend_can_run(const struct backend *b);

// --- running ---------------------------------------------------------------------------------------------------------

// `weights` are found by the `index` attribute of weight leaves and must outlive the model (they are not copied); those
// without data come from the backend's source.
// NULL: error. A graph with opaque nodes is EXIT_UNSUPPORTED.
// Steps run as the cost database knows to be best, or by the given choices, which may be NULL.
struct model *backend_prepare(struct backend *b, const struct graph *g, size_t n_weights,
                              const struct tensor_value *weights, struct error *error);
struct model *backend_prepare_from(struct backend *b, const struct graph *g, const uint8_t *layouts,
                                   const step_choices *given, const struct given_weights *weights, struct error *error);
// The layout of every tensor by the backend's policy, in `arena`; NULL where they are the standard ones, as they are of
// the best when the user ends the measuring of costs that these need.
bool backend_find_layouts(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                          struct error *error);
// Gives back the memory that only measuring takes; what is measured later takes it anew.
void backend_rest(struct backend *b);
// What it took to prepare a model and running it does not need: worth some milliseconds where memory is short.
void backend_give_back_preparing(struct backend *b);
// The code of kernels too that no model has; a model that is prepared later makes its own anew.
void backend_forget_code(struct backend *b);
void backend_close(struct backend *b);   // NULL is allowed

// --- for devices -----------------------------------------------------------------------------------------------------

struct plan_request backend_plan_request(const struct backend *b, const struct graph *g, const uint8_t *layouts,
                                         struct arena *arena);
// Sets up the common part: options with their standards filled in, and the cost database of `device`.
bool backend_init(struct backend *b, const struct backend_methods *methods, const struct plan_target *target,
                  const struct backend_options *options, const char *device, struct error *error);
void backend_finish(struct backend *b);
