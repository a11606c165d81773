// A device: what graphs cost there (it is a coster, by planning), and, where the device is here, running them.
//
//   struct backend *b = cpu_backend_open(&options, &error);       a device (backends/cpu, backends/fake, ...)
//   backend_estimate(b, graph, &estimate)                          the sum of its steps' costs (costs/graph_cost.h)
//   struct model *m = backend_prepare(b, graph, ...)               weights packed, memory laid out (backends/backend.h)
//   model_run(m, inputs, outputs)                                  synchronous (contract/executor.h)
//   backend_close(b)                                               writes the cost database
//
// A graph is planned (plan.h), never interpreted: what a step costs is known by the step's text, so that costs are
// measured once per device and shared by all graphs of a search.
#pragma once
#include "backends/contract/choice.h"
#include "backends/contract/coster.h"
#include "backends/contract/executor.h"
#include "backends/contract/roofline.h"
#include "backends/contract/schedule_space.h"

struct backend;
struct cost_database;
struct in_model_notes;
struct layout_memory;
struct log;
struct step_memory;

// Which layouts the tensors of a graph get, where the device can choose.
enum layout_policy {
    LAYOUTS_STANDARD,   // by rule, without asking for costs: channels last between operators on images, row-major else
    LAYOUTS_BEST,       // those of least cost for this graph (choose_layouts.h)
    LAYOUTS_PLAIN,      // row-major all (NCHW), as models store them
    LAYOUTS_TUNED,      // the best with what tuning decided of fusion and layouts (struct tuned_passes)
};
extern const char *const layout_policy_names[];   // "standard", "best", "plain", "tuned", NULL

// The knowledge that tuning has of any graph: which tensors are PLAN_APART, and layouts of some; the others stay as
// they are given. True: the best layouts are those for what is apart; else those where all is fused, which are known.
struct tuned_passes {
    void *context;
    bool (*decide)(void *context, const struct graph *g, uint8_t *decisions);
};

struct backend_options {
    int threads;             // 0: as many as there are cores
    const char *cost_file;   // NULL: in the user's cache folder; "" : none
    const char *kernels;     // a file of generated kernels, which are not compiled then (cpu_write_kernels); NULL: none
    bool allows_tf32;        // products of f32 on tensor cores that drop bits (cuda)
    bool is_guest;           // models run on the workers of somebody else (model_run_on)
    bool prepares_to_write;    // models are not run: nobody reads through their memory again
    bool never_measures;       // steps that the database lacks are guessed (roofline) and counted, not measured
    double seconds_per_step;   // of measuring; 0: the standard
    double error_budget;       // that a model's inexact choices may move its outputs by; 0: it takes none
    const struct log *log;     // may be NULL
    const struct weight_source *weights;   // for models whose weights are given without data; may be NULL
};

struct step_cost {
    double seconds;                 // median
    double spread;                  // interquartile range as a share of the median
    bool is_guessed, is_doubtful;   // doubtful: other programs came between, so it is to be measured again
    bool is_hurried;                // doubtful, as it was measured in haste, or is a share of what one thread takes
    bool is_cut;                    // doubtful, as only some of its ways were measured
    bool is_in_model;               // taken from a running model
    bool is_old;                    // read from the database, not measured by this program
    bool is_adopted;                // tuning chose so (trials.h), in this program
    uint32_t run;                   // of the program that measured it; 0: not known
    double error;                   // what an inexact choice errs more than exact ones, as a share; 0: exact
    char choice[CHOICE_SIZE];       // how the device ran it, where it had several ways; empty otherwise
};
// The functions that a device implements.
struct backend_methods {
    const char *name;   // "cpu"
    // Costs are computed, so each step has its own. Else steps that are alike share what one was measured to cost
    // (step_print_key).
    bool has_exact_costs;
    bool has_inexact_choices;
    bool knows_small_models;   // what is measured depends on backend_expect_model
    // Adds the ways to run a step. NULL: there is one for each, the standard one.
    void (*list_choices)(struct backend *b, const struct plan *plan, const struct step *step, choice_list *list);
    // Adds all schedules of ways that have some. NULL: no way has.
    void (*list_spaces)(const struct backend *b, const struct plan *plan, const struct step *step,
                        schedule_spaces *list);
    // The work of the step by a choice of such a space. False: it does not suit the step. With list_spaces.
    bool (*describe_choice)(const struct backend *b, const struct plan *plan, const struct step *step,
                            const char *choice, struct schedule_features *ret_features);
    // Compiles all at once what these choices need, which is less work than one by one: now, or when the first of them
    // is run. NULL: nothing has to be, and there are no list_spaces.
    void (*make_ready)(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                       bool is_now);
    // The cost of a step of a plan, by running it on random data or by knowing it, in the best way of some of one
    // precision, whose error is measured, too, unless *ret_cost has that choice and its error already. What takes many
    // times `best` seconds need not be known well.
    // False: the device failed at it.
    bool (*measure)(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                    double best, struct step_cost *ret_cost, struct error *error);
    // Told once of each step whose cost was found, or measured, and its choice. NULL: it does not want to know.
    void (*learn)(struct backend *b, const struct plan *plan, const struct step *step, const struct step_cost *cost);
    // A guess, where the cost is not known and may not be measured. NULL: that of a small processor.
    double (*guess)(const struct backend *b, const struct plan *plan, const struct step *step);
    // Seconds that it takes at least, in whatever layouts and way. NULL: nothing is known.
    double (*least)(const struct backend *b, const struct plan *plan, const struct step *step);
    // False: they are not known, and not to be measured. NULL: they never are.
    bool (*roofline)(struct backend *b, struct roofline *ret_roofline);
    const struct executor *executor;   // NULL: the device is not here, only its costs are
    void (*rest)(struct backend *b);   // NULL: nothing to give back (backend_rest)
    void (*close)(struct backend *b);
};

enum cost_repairs { REPAIRS_NOTHING, REPAIRS_DOUBTFUL, REPAIRS_ON_TRIAL, REPAIRS_ALL };
// Which ways of a step are measured: all; of the exact ones the standard one, as doubtful where there are others; all,
// and again those of doubtful costs.
enum cost_ways { WAYS_ALL, WAYS_QUICK, WAYS_AGAIN };
// Which costs are measured. May be changed at any time.
struct cost_measuring {
    enum cost_ways ways;
    enum cost_repairs repairs;   // of costs of the database, when they are asked for first
    double repairs_end;          // on clock_seconds, when no more are measured again; 0: never
    double choices_end;          // the same, when steps are only measured in the standard way
    bool is_hasty;               // a step has a share of the usual time
    bool only_recalls;           // steps that the database lacks are not estimated at all
    bool expects;                // those that are not will be measured soon
    bool leaves_waiting;         // those that wait for another one's choice are not estimated either
    bool has_small_model;        // (backend_expect_model)
};

// Each device's struct begins with this one.
struct backend {
    struct coster coster;
    const struct backend_methods *methods;
    struct plan_target target;
    struct backend_options options;
    enum layout_policy policy;          // of estimates and models; may be changed at any time
    const struct tuned_passes *tuned;   // for LAYOUTS_TUNED; NULL: that is as LAYOUTS_BEST
    struct cost_measuring measuring;
    char device[256];   // what costs depend on: processor, threads, library and its version
    struct code_cache *codes;
    struct cost_database *costs;
    struct step_memory *memory;   // costs of steps met so far
    uint32_t cost_edition;        // what was computed of costs of an earlier one is computed again
    struct layout_memory *layout_memory;
    struct in_model_notes *in_model;   // (in_model.h)
    struct arena *scratch;             // of estimates, kept for its memory
};
