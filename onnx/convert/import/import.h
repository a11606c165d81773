// Import at known sizes. A model whose symbols stay is imported by symbolic/import_symbolic.h.
#pragma once
#include "onnx/convert/importer.h"

// `file` must outlive the model. Shapes that name no input or symbol, or contradict the model, are errors (EXIT_USAGE).
bool import_model(struct imported_model *m, struct onnx_file *file, const struct import_options *options,
                  struct error *error);

// ---- node by node: private to onnx ----

// Leaves, and which nodes an output depends on.
bool import_begin(struct importer *im, const bool **ret_is_live);
struct conversion import_begin_node(struct importer *im, uint32_t index);   // the rest lives in the scratch arena
bool import_convert(struct importer *im, struct conversion *c);             // false: c->reason, and nothing was added
void import_infer_types(struct importer *im, struct conversion *c, struct type *ret_types);
// A node of its own, or the outputs of `equal`: of an earlier one that import_find_equal found, or TABLE_NONE.
void import_opaque(struct importer *im, struct conversion *c, const struct type *types, uint32_t equal);
void import_define_outputs(struct importer *im, const struct conversion *c);
void import_take_back(struct importer *im, struct graph_mark mark);
void import_outputs(struct importer *im);
bool import_graph(struct importer *im);   // all of it
