// All devices are opened, asked for memory, given models to run, and closed by these.
#pragma once
#include "backends/contract/backend.h"

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
// The layouts by the backend's policy alone, a byte for each tensor and one more, for mem_free: what it took to find
// them goes before weights come. NULL: the standard ones.
bool backend_find_layouts_only(struct backend *b, const struct graph *g, uint8_t **ret_layouts, struct error *error);
struct model *backend_prepare_from(struct backend *b, const struct graph *g, const uint8_t *layouts,
                                   const step_choices *given, const struct given_weights *weights, struct error *error);
// Gives back the memory that only measuring takes; what is measured later takes it anew.
void backend_rest(struct backend *b);
// Gives back the code of kernels that no model has; a model that is prepared later makes its own anew.
void backend_forget_code(struct backend *b);

// --- opening and closing ---------------------------------------------------------------------------------------------

// Sets up the common part: options with their standards filled in, and the cost database of `device`.
bool backend_init(struct backend *b, const struct backend_methods *methods, const struct plan_target *target,
                  const struct backend_options *options, const char *device, struct error *error);
void backend_finish(struct backend *b);
// Writes the cost database now. False: it cannot be written. That is tried again when the backend is closed, with a
// warning, but not after the last time.
bool backend_save_costs(struct backend *b, struct error *error);
bool backend_save_costs_last(struct backend *b, struct error *error);
void backend_close(struct backend *b);   // NULL is allowed
