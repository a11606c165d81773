// Names of ONNX values: who they are, how often they are used, and which of them subgraphs reach out for.
#pragma once
#include "onnx/convert/importer.h"

typedef VEC(const struct onnx_string *) name_list;
// Adds the names that nodes inside of a message read, and then those that graphs inside of it give, but no empty ones.
void names_add_read(const struct onnx_descriptor *d, const void *message, name_list *names);
struct named_value *name_find(const struct importer *im, const struct onnx_string *name);   // NULL: unknown
struct named_value *name_enter(struct importer *im, const struct onnx_string *name);        // finds or adds
// A flag for every node of the model's graph: does an output of the model depend on it? In the importer's scratch.
const bool *names_find_live(struct importer *im);
void names_count_uses(struct importer *im, const bool *is_live);   // of live nodes
void names_free(struct importer *im);
// The outer values that subgraphs of `n` use, in order of first use, each once; allocated in the model's arena.
const char **names_captured_by(struct importer *im, const struct onnx_node *n, uint32_t *ret_count);
