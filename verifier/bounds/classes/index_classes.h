// What the definitions of one instance say of its indices: classes of index variables and tensor axes that are read by
// one another (union-find), and what is done with each class. bounds.c makes bounds of it; only the files that analyse
// an instance include this.
//
//     items:  variable 0, axes 0 .. MAX_RANK-1 | variable 1 ... | index variables of node 0 | of node 1 ...
#pragma once
#include "verifier/instances/instance.h"

#define MAX_ITEMS 1024   // variable axes, then the index variables of all definitions
#define MAX_WINDOWS 128
#define MAX_LINKS 1024
#define MAX_POSITIONS 8192

enum class_flags {
    HAS_SEGMENTS = 1,       // read at an offset, or along a part
    HAS_WINDOW = 2,         // read at a place that depends on two indices, or outside of the tensor
    HAS_GROUPS = 4,         // a division of one index
    HAS_RESHAPE = 8,        // a division of a combination of indices
    HAS_ORDER = 16,         // compared by order, or used as a number
    HAS_PRODUCT = 32,       // multiplied over
    HAS_FIXED_SIZE = 64,    // named by a number, or compared in another way than for equality
    HAS_COUNT = 128,        // its size is a number in an attribute, or a coefficient
    HAS_KERNEL = 256,       // summed over in a window
    HAS_OPEN_PARTS = 512,   // cut into parts whose sizes a variable says
    HAS_MIDDLE = 1024,      // one place is told from the others by its number
};

struct window_use {
    uint32_t side, node;
    int axis;
    int64_t stride, dilation, offset, size, outside, extent_of_sum;
    uint32_t index_item, read_item, kernel_item;   // the index that goes along; what is read; what is summed over
};
#define NO_ITEM UINT32_MAX

// A place that is compared with the end of an axis; the index, where it is one alone.
struct end_test {
    uint64_t form;
    uint32_t item;
};

// Position p of item `to` is position p + offset of item `from`.
struct link {
    uint16_t from, to;
    int64_t offset;
    bool is_whole;      // every position of the one is one of the other
    bool is_part;       // `from` is read along a part of `to`, or the other way round
    bool is_of_group;   // the positions have a group in common, and not their place in it
};

struct analysis {
    struct instance *in;
    const struct definition *definitions[MAX_RULE_NODES];
    uint32_t first_item[MAX_RULE_NODES];
    uint32_t n_items;
    uint16_t parents[MAX_ITEMS];
    uint16_t flags[MAX_ITEMS];
    bool is_operand[MAX_ITEMS];   // read along a part of what it goes to, or the other way round
    int64_t size[MAX_ITEMS];
    int64_t named[MAX_ITEMS];   // the size, where a number says it, or what a condition compares it with; else 0
    bool names_loosely;         // a condition compares sizes with numbers by order
    int n_links;
    struct link links[MAX_LINKS];
    uint8_t cuts[2][MAX_ITEMS];           // parts that it is made of, or cut into at named sizes, by side
    int64_t places_of_group[MAX_ITEMS];   // where all cuts stand between groups, in all instances; else 0
    uint8_t free_sums[MAX_ITEMS], size_numbers[MAX_ITEMS];
    node_set sides[2];                 // nodes of the left and the right sides
    uint8_t labels[MAX_ITEMS];         // by class: that one counterexample can need (labels.c)
    uint16_t class_flags[MAX_ITEMS];   // by class: of all its items
    int n_windows;
    struct window_use windows[MAX_WINDOWS];
    int n_tests[2];   // places compared with the ends of an axis, by side, each form once
    struct end_test tests[2][MAX_WINDOWS];
    uint32_t groups;             // bit n: an operator has n groups, or several ask for a multiple of n
    bool has_numbers_of_sizes;   // coefficients that sizes say
    bool has_too_many;
};

// An index expression: a sum of variables times numbers, and variables under divisions.
struct affine_index {
    int n;
    uint32_t variable[8];
    int64_t coefficient[8], base;
    uint32_t divided[8];   // variables under a division or modulus
    int n_divided;
    bool divides_combination;
    bool is_too_long;   // some of it did not fit here
};
void classes_find_affine(const struct definition *d, expr e, struct affine_index *ret);

// Numbers the items of an instance whose nodes are all typed, each in a class of its own.
void classes_number_items(struct analysis *an);
uint32_t classes_find(const struct analysis *an, uint32_t item);   // the item that stands for its class
void classes_unite(struct analysis *an, uint32_t x, uint32_t y);
// The two have the same positions, in all instances of this structure.
void classes_unite_whole(struct analysis *an, uint32_t x, uint32_t y);
void classes_flag(struct analysis *an, uint32_t item, uint16_t flags);
uint32_t classes_item_of_axis(const struct analysis *an, term_id term, int axis);
// What every read and every test of an index in the definitions of both sides says.
void classes_note_nodes(struct analysis *an);
// What attributes and conditions say of sizes (sizes.c).
void classes_note_sizes_of_node(struct analysis *an, uint32_t node);
void classes_note_shared_variables(struct analysis *an);
void classes_note_conditions(struct analysis *an);
// Are the sizes of a split written down part by part, as numbers and sizes of axes?
bool classes_name_parts(const struct analysis *an, uint32_t node);
// Is an attribute made of sizes that are none of its shape, its parts, or of axes of windows?
bool classes_have_attributes_of_sizes(struct analysis *an);
// Are pads or kernels made of sizes, which may be so small in an instance that nothing is moved?
bool classes_have_windows_of_sizes(const struct analysis *an, uint32_t node);
// How many positions of the class numbers tell from others, on all of its axes together.
int64_t classes_named_places(struct analysis *an, uint32_t class);
bool classes_have_named_parts(struct analysis *an, uint32_t class);
// Does (dim ?x a), or (dims ?x), speak of the axis? Does the condition compare sizes in another way than for equality?
bool attribute_term_names_axis(const struct attribute_term *t, int axis);
bool condition_names_sizes(const struct condition *c);
bool condition_equates_sizes(const struct condition *c, uint32_t x, uint32_t y, int axis);
// Axes that have one entry in every instance, because the text of the equation says so; one bit for each, by term
// (ones.c).
#define MAX_ONES (MAX_RULE_VARIABLES + MAX_RULE_NODES * 4)
struct axes_of_one {
    size_t n_terms;
    uint32_t axes[MAX_ONES];
};
void classes_find_axes_of_one(const struct analysis *an, struct axes_of_one *ret_ones);
// Has the kernel of a convolution one entry on the axis in all instances of these attributes?
bool classes_have_kernel_of_one(const struct analysis *an, uint32_t node, int axis);
// Of classes that groups divide and that are concatenated (groups.c).
void classes_find_places_of_groups(struct analysis *an);
// Does every monomial of what the node reads of the tensor have a factor read at the place on the axis? Of which
// operands of a function it has to hold is the caller's (labels.c).
enum passing { PASSES_NEVER, PASSES_FIRST, PASSES_EITHER, PASSES_BOTH };
typedef enum passing passing_fn(enum scalar_function fn);
bool classes_tensor_is_read_along(const struct analysis *an, uint32_t node, int tensor, int axis, passing_fn *passing);
// Into an->labels: axes of the output, and sums.
void classes_count_labels(struct analysis *an);
int64_t classes_labels_of(struct analysis *an, uint32_t item);   // of its class; at least 1
// Do cuts of concatenations overlap, so that sizes cannot be reduced one by one (orbits.c)?
bool classes_have_folded_orbits(struct analysis *an);
