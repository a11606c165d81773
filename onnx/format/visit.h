// Walking over a model by the tables of schema.c, strings, and the attributes of nodes by name.
#pragma once
#include "onnx/format/model.h"

// The first message x of a list, which has type T, of which it is so; NULL: there is none.
#define ONNX_FIND(T, x, list, ...)                                                                                     \
    __extension__({                                                                                                    \
        const T *x = NULL, *x##_found = NULL;                                                                          \
        for (size_t x##_i = 0; x##_i < (list)->count && !x##_found; x##_i++) {                                         \
            x = (list)->items[x##_i];                                                                                  \
            x##_found = (__VA_ARGS__) ? x : NULL;                                                                      \
        }                                                                                                              \
        x##_found;                                                                                                     \
    })

typedef VEC(void *) message_list;
// Adds every message of type `wanted` inside `message`, itself included, in the order of writing.
void onnx_list_messages(const struct onnx_descriptor *d, const void *message, const struct onnx_descriptor *wanted,
                        message_list *list);
bool onnx_string_is(const struct onnx_string *s, const char *text);
bool onnx_string_equal(const struct onnx_string *a, const struct onnx_string *b);
bool onnx_bytes_are(const struct onnx_bytes *b, const char *text);
// The name of a size; empty where it has none. "?" is none: exporters write it for every size that they do not know.
const struct onnx_string *onnx_symbol(const struct onnx_dimension *d);

// Is there an initializer of that name? It may be declared as an input, too: no node makes it, and nobody gives it.
bool onnx_graph_initializes(const struct onnx_graph *g, const struct onnx_string *name);
const char *onnx_domain(const struct onnx_string *domain);                  // "" is "ai.onnx", too
int64_t onnx_version(const struct onnx_list *opsets, const char *domain);   // 0: there is none
const struct onnx_function *onnx_function_called_by(const struct onnx_model *m, const struct onnx_node *n);   // or NULL
const struct onnx_attribute *onnx_node_find(const struct onnx_node *n, const char *name);   // NULL when absent
bool onnx_words_have(const char *words, const char *name);         // words with a space between them
bool onnx_node_has_standard_domain(const struct onnx_node *n);     // "" or "ai.onnx"
bool onnx_node_is(const struct onnx_node *n, const char *names);   // an operator of that domain: one of "LSTM GRU RNN"
