// The cost of one step of a plan: from memory, from the database, measured now, or guessed.
#pragma once
#include "backends/contract/backend.h"
#include "core/text/text.h"

// The name by which the cost database knows a step of a plan on a device.
struct step_key {
    struct text text;
    int n_parts;   // that the step has, each of which costs what the database says
};
// The cost of a step in the best of its choices of each precision.
struct step_prices {
    bool is_taken_back;                  // its inexact choices (backend_take_back)
    bool is_expected[N_PRECISIONS];      // some choices were made ready
    struct step_cost of[N_PRECISIONS];   // seconds 0: not asked for yet; INFINITY: there is none
};
// The best choice of each precision has a cost of its own.
struct step_key step_key_of(const struct backend *b, const struct plan *plan, const struct step *step,
                            enum precision precision);
enum precision step_precision(const struct step *step);   // of its choice
void step_key_free(struct step_key *key);
struct step_memory *step_memory_new(void);
void step_memory_free(struct step_memory *memory);
// The best of the exact and of the inexact choices. False: the device failed, or nothing is to be measured
// (only_recalls).
// Inexact choices are only looked at where there is a budget for errors.
bool step_prices_find(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret,
                      struct error *error);
// Says that a step's costs will be found soon: kernels that measuring it takes are compiled with others.
void step_prices_expect(struct backend *b, const struct plan *plan, const struct step *step);
// Fills in the costs that are known without measuring, instead of zeros. False: nothing, of exact choices.
bool step_prices_recall(struct backend *b, const struct plan *plan, const struct step *step, struct step_prices *ret);
// Does the inexact one take less, and lose no more than a whole model may, and was it not taken back?
bool step_prices_prefer_inexact(const struct backend *b, const struct step_prices *p);
bool backend_is_late(const struct backend *b);   // to try several ways to run a step
// Steps of this text (step_print) run by exact choices from now on.
void backend_take_back(struct backend *b, const char *step);
void backend_take_back_as(struct backend *b, const struct backend *other);   // what the other one took back
// Costs found in the database so far are looked up there again, and those computed of them are computed again.
void backend_forget_costs(struct backend *b);

// The cost of one step of a plan made for this backend: from memory, the database, or measured now. That of its choice,
// and where nothing is chosen yet the least that is possible.
bool backend_step_cost(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                       struct error *error);
// The known cost of a step: true, with its cost, without measuring anything.
bool backend_recall_cost(struct backend *b, const struct plan *plan, const struct step *step,
                         struct step_cost *ret_cost);
// Says how many bytes the models to come have in weights. Steps with weights of small models, whose weights stay in the
// caches from run to run, have costs of their own. To be said before anything is estimated.
void backend_expect_model(struct backend *b, size_t weight_bytes);
