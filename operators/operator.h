// An operator: its name, attributes and definition. One operator (or one family of a single shape, such as the unary
// element-wise functions) is one file; operators.def is the list, which a build may add to (extra_operators.h).
#pragma once
#include "expressions/definition.h"

enum { MOST_EXTRA_OPERATORS = 32 };
enum operator_id {
#define OPERATOR(enumerator, descriptor) OP_##enumerator,
#include "operators/operators.def"
#undef OPERATOR
    OP_FIRST_EXTRA,   // the ids from here on are those of extra_operators.h
    OP_COUNT = OP_FIRST_EXTRA + MOST_EXTRA_OPERATORS
};

#define MAX_ATTRIBUTES 8
#define VARIADIC (-1)

enum attribute_kind {
    ATTRIBUTE_NONE,
    ATTRIBUTE_INT,      // one integer
    ATTRIBUTE_INTS,     // a list of integers
    ATTRIBUTE_REAL,     // one real, stored as the bits of a double
    ATTRIBUTE_CHOICE,   // one of `choices`, stored as its index; no type depends on which one
    ATTRIBUTE_DTYPE,    // an element type, stored as enum dtype
};
// The purpose of an attribute, so that nobody else has to know it by its name. An operator has a role at most once.
enum attribute_role {
#define ROLE(enumerator, per_axis, is_of_window, is_of_sizes, plain, least) ROLE_##enumerator,
#include "operators/roles.def"
#undef ROLE
};
extern const struct attribute_role_info {
    int8_t per_axis;
    bool is_of_window, is_of_sizes;
    int64_t plain, least;
} attribute_roles[];
// The entries of a list for a tensor of this rank; 0: none, or the role does not say it.
uint32_t attribute_role_length(enum attribute_role role, int rank);
struct attribute {
    const char *name;
    enum attribute_kind kind;
    enum attribute_role role;
    bool is_required;   // else `standard` (INT, CHOICE, DTYPE), `standard_real`, or the empty list
    int64_t standard;
    double standard_real;
    const char *const *choices;   // CHOICE: NULL-terminated
};
// A value owns nothing: `ints` points into an arena. INT, REAL, CHOICE and DTYPE have count 1.
struct attribute_value {
    uint32_t count;
    const int64_t *ints;
};

// One application of an operator: what its `define` sees. `attributes` has one value per attribute of the operator.
struct operator_call {
    const struct operator* op;
    int n_inputs;
    const struct type *inputs;
    const struct attribute_value *attributes;
};

enum operator_flags {
    OPERATOR_IS_COMMUTATIVE = 1,   // in its two inputs
    OPERATOR_IS_ELEMENTWISE = 2,   // output and all inputs have one shape; each entry from the entries at its place
    OPERATOR_IS_LEAF = 4,          // a tensor of the graph, not a computation: input, weight
    OPERATOR_IS_OPAQUE = 8,        // no definition: typed by whoever makes the node
    OPERATOR_IS_VIEW = 16,         // the same entries in the same order: reshape
    OPERATOR_IS_OF_RULES = 32,     // no imported model has it: only rules make it
    OPERATOR_KEEPS_RANK = 64,      // all inputs and outputs have one rank
};

struct operator
{
    enum operator_id id;
    const char *name;
    const char *onnx;             // the ONNX operator(s) that mean this, for the documentation; NULL: none
    const char *summary;          // one line
    int min_inputs, max_inputs;   // max_inputs may be VARIADIC; 0: as many as min_inputs
    int flags;                    // enum operator_flags
    int variant;                  // of several that have one `define`
    struct attribute attributes[MAX_ATTRIBUTES];
    // Builds the definition from d->inputs and the attributes, or refuses with a reason. Arity, known input types and
    // attribute lengths of scalars have been checked. Must depend on nothing else.
    bool (*define)(struct definition * d, const struct operator_call *call);
    // A hash of one input and the attributes alone, when operator_check_attributes holds: inputs for which it differs
    // are never well-typed together. A cheap way to refuse most combinations of many types. NULL: only what the flags
    // say is known.
    uint64_t (*agreement)(const struct operator_call *call, int input);
    // Are there no inputs that these attributes go with? NULL: that is not known.
    bool (*refuses)(const struct attribute_value *attributes);
    // After a successful define: makes explicit in `ret_attributes` (a copy of the call's) what was left to the input
    // types. Values are allocated in d->arena. NULL: nothing ever is.
    void (*resolve)(struct definition * d, const struct operator_call *call, struct attribute_value *ret_attributes);
};

extern const struct operator* const operators[OP_COUNT];
static inline int operator_most_inputs(const struct operator* op)   // or VARIADIC
{
    return op->max_inputs ? op->max_inputs : op->min_inputs;
}
int operator_count(void);                                 // ids from here on have none
const struct operator* operator_find(const char *name);   // NULL: none
// "1 input", "2 or 3 inputs", "at least 2 inputs".
#define ARITY_SIZE 64
const char *operator_print_arity(const struct operator* op, char ret_text[ARITY_SIZE]);
int operator_n_attributes(const struct operator* op);
int operator_find_attribute(const struct operator* op, const char *name);      // its index, or -1
int operator_find_role(const struct operator* op, enum attribute_role role);   // likewise

// Types and meaning of an application. On success the definition is finished (split trees derived) and its outputs
// typed. On refusal d->reason says why. `d` was initialised or cleared with call->inputs.
bool operator_define(struct definition *d, const struct operator_call *call);
// The part that does not depend on how inputs and attributes fit together: each type is known and not too large, each
// attribute is in its range.
bool operator_check_call(struct definition *d, const struct operator_call *call);
bool operator_check_attributes(struct definition *d, const struct operator_call *call);   // whatever the inputs are

// Agreement of an input, with what the flags say.
uint64_t operator_agreement(const struct operator_call *call, int input);

int64_t call_int(const struct operator_call *call, int attribute);
double call_real(const struct operator_call *call, int attribute);
int64_t real_to_bits(double value);
double real_from_bits(int64_t bits);
bool attribute_value_equal(const struct attribute_value *a, const struct attribute_value *b);
// All attributes of the operator.
bool attributes_equal(const struct operator* op, const struct attribute_value *a, const struct attribute_value *b);
uint64_t attributes_hash(const struct operator* op, const struct attribute_value *values);   // and of the operator
// An entry of a list that may be left empty.
int64_t attribute_entry_or(const struct attribute_value *value, int entry, int64_t standard);
struct attribute_value attribute_value_copy(struct arena *a, const struct attribute_value *value);
// Copies all attributes of the operator.
const struct attribute_value *attributes_copy(struct arena *a, const struct operator* op,
                                              const struct attribute_value *values);
// Fills `ret_values` (operator_n_attributes entries, ints allocated in `a` or static) with the standard values;
// required ones get count 0.
void operator_standard_attributes(const struct operator* op, struct arena *a, struct attribute_value *ret_values);
// Text of one value: "2 2", "relu", "1e-05".
void attribute_print(struct text *out, const struct attribute *attribute, const struct attribute_value *value);
