// The parts of ONNX Runtime that all files need here: its tables of functions, and statuses in place of errors.
#pragma once
#include "include/taso.h"
#include <onnxruntime_c_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

#define PROVIDER_NAME "TasoExecutionProvider"

struct runtime {
    const OrtApi *api;
    const OrtEpApi *ep;
    const OrtLogger *logger;                   // of the session; may be NULL
    const char *const *keys, *const *values;   // the session's entries that are options of the provider
    size_t n_entries;
};

enum { MOST_AXES = 32 };
struct tensor_form {
    int element_type;   // ONNX's number
    int rank;
    int64_t dims[MOST_AXES];   // -1: not known
    size_t count;              // of a value's entries
};

// Gives false, and releases the status, where it is an error.
bool runtime_is_done(const struct runtime *r, OrtStatus *status);
OrtStatus *runtime_fail(const struct runtime *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// A line in the session's log, of severity INFO.
void runtime_log(const struct runtime *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
// False: it has too many axes.
bool runtime_read_form(const struct runtime *r, const OrtTensorTypeAndShapeInfo *info, struct tensor_form *ret_form);
bool runtime_read_value(const struct runtime *r, const OrtValue *value, struct tensor_form *ret_form);   // or no tensor
// The attribute's value as it is in memory: of a text `size` bytes, of lists `size` bytes in all. NULL: it has another
// type.
void *runtime_read_attribute(const struct runtime *r, const OrtOpAttr *a, OrtOpAttrType type, struct arena *arena,
                             size_t *ret_size);
