// The parts of a node that converters need: its inputs, attributes, and the numbers of constants.
#pragma once
#include "onnx/convert/conversion.h"

// Lists; of what is absent NULL and 0.
struct integers {
    const int64_t *items;
    uint32_t count;
};
struct reals {
    const double *items;
    uint32_t count;
};
// Refuses: `return cannot(c, "mode %s", mode);`
bool cannot(struct conversion *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define no_tensor(c, ...) (cannot((c), __VA_ARGS__), NO_TENSOR)
// Gives an output; false when it is NO_TENSOR.
bool give(struct conversion *c, uint32_t output, tensor_id tensor);
tensor_id input_of(const struct conversion *c, uint32_t input);   // NO_TENSOR when omitted
bool wants_output(const struct conversion *c, uint32_t output);   // does anything use it?
// Does one node alone read it? Also what no name of the model stands for, as it is a part of what one node makes.
// Reading a shape that is known without the tensor does not count.
bool tensor_is_read_once(const struct conversion *c, tensor_id tensor);
bool input_is_read_once(const struct conversion *c, uint32_t input);        // by each of its names
const struct type *type_of(const struct conversion *c, tensor_id tensor);   // of NO_TENSOR: one of rank 0
// Are the first n inputs there, and all that are there of known type? Otherwise cannot.
bool has_known_inputs(struct conversion *c, uint32_t n);
// Attributes of the node (node.h), with the standard value.
int64_t int_attribute(const struct conversion *c, const char *name, int64_t standard);
double float_attribute(const struct conversion *c, const char *name, double standard);
bool has_attribute(const struct conversion *c, const char *name);
struct integers ints_attribute(const struct conversion *c, const char *name);
// A list of n items, each of them `standard` when it is absent; refused when it has others, or one that is out of
// range.
bool list_within(struct conversion *c, const char *name, int n, int64_t standard, int64_t low, int64_t high,
                 int64_t *ret_items);
bool text_attribute_is(const struct conversion *c, const char *name, const char *text, const char *standard);
// The numbers of a constant input: false when it is no constant (or larger than `limit`).
bool constant_ints(struct conversion *c, tensor_id tensor, size_t limit, struct integers *ret_list);
bool constant_reals(struct conversion *c, tensor_id tensor, size_t limit, struct reals *ret_list);
bool constant_int(struct conversion *c, tensor_id tensor, int64_t *ret_number);   // of one entry
bool constant_real(struct conversion *c, tensor_id tensor, double *ret_number);
bool is_filled_with(struct conversion *c, tensor_id tensor, double value);   // a constant: all entries are this number
// A list that older operator sets have as an attribute and newer ones as a constant input.
bool list_of(struct conversion *c, const char *attribute, uint32_t input, struct integers *ret_list);
// Lists of a Slice: as many ends as starts, and axes and steps, if there are any.
struct slice_lists {
    struct integers starts, ends, axes, steps;
};
bool read_slice_lists(struct conversion *c, struct slice_lists *ret_lists);
bool is_weight(const struct conversion *c, tensor_id tensor);
bool is_constant(struct conversion *c, tensor_id tensor);   // depends on weights only
// Numpy's common shape of two tensors; false (cannot) when there is none.
bool common_shape(struct conversion *c, const struct type *a, const struct type *b, struct type *ret_shape);
int64_t entries_between(const struct type *t, int from, int to);                    // axes: the product of their sizes
bool normalize_axis(struct conversion *c, int64_t axis, int rank, int *ret_axis);   // from -rank .. rank - 1
bool set_of_axes(struct conversion *c, struct integers axes, int rank, uint32_t *ret_set);   // a bit each
// Which axes a list of n entries is for: those that the attribute `axes` names, each once, or all.
bool axes_of_list(struct conversion *c, int rank, uint32_t n, int *ret_axes);
// The axes as a list without repetition; without any listed: all. False: the node cannot be converted.
bool read_axes(struct conversion *c, int rank, struct axes *ret_axes);
// A size times a scale, rounded down; -1: it is out of range, or single precision, which runtimes use, has another one.
int64_t scaled_size(int64_t size, double scale);
