// The interface that the files of the search for layouts share: choose_layouts.c looks for the best, layout_parts.c
// says what the cost of a plan is made of, layout_tables.c keeps what parts cost, layout_constraints.c makes a problem
// for the solver of it.
#pragma once
#include "backends/contract/backend.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/layouts/solver/assignment.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"

#define NO_LAYOUT_PART UINT32_MAX
#define LAYOUT_MOST_CHOICES 7   // around one step; the layouts of more are taken to be standard

struct layout_table {
    size_t n_entries, n_missing;
    double *seconds, least;   // NAN where missing; least: of those for the standard layouts and for one layout for all
    double floor;             // of STEPS: none can be less
    bool is_guessed;          // some of them
    unsigned slots;           // of NEED: all that are in some entry
};
struct layout_memory {
    uint32_t edition;   // of the backend's costs
    struct arena arena;
    struct key_set keys;
    VEC(struct layout_table) tables;   // by the key's number
    struct words key, step;
};

// The parts that the cost of a plan is made of.
//   PART_STEPS   the seconds of some steps
//   PART_NEED    the copies of a tensor that one node needs, as a set of slots
//   PART_COPIES  the seconds of each copy of a tensor, if it is made: the copies that some node needs are
enum part_kind { PART_STEPS, PART_NEED, PART_COPIES };
#define LAYOUT_SLOTS (LAYOUT_COUNT + 1)   // a layout, or LAYOUT_ANY: a copy for an output of the graph

struct number_list {   // in the search's arena
    uint32_t *items;
    size_t count, capacity;
};
struct layout_part {
    enum part_kind kind;
    struct {
        uint32_t items[LAYOUT_MOST_CHOICES];
        size_t count;
    } scope;                              // numbers of choices
    struct number_list steps, requests;   // of the standard plan
    node_id node;                         // of NEED
    uint32_t next;    // of COPIES: the first NEED of its tensor; of NEED: the next one; NO_LAYOUT_PART: none
    uint32_t table;   // of the memory
    size_t entry;     // of the layouts that are looked at
    bool is_missing, is_unknown;   // unknown: it has a step that would have to be measured
    unsigned slots;                // that are needed for these layouts, or were seen in the plan
    double seconds[LAYOUT_SLOTS];
};
struct layout_search {
    struct backend *b;
    price_step_fn *price;
    struct layout_memory *memory;   // the backend's, or one for this search only
    const struct graph *g;
    const uint8_t *apart;   // (layouts_find)
    struct arena *arena;
    struct error *error;
    struct plan plan;             // with standard layouts
    uint32_t *choice_of_tensor;   // NO_LAYOUT_PART: none
    uint32_t *part_of_node, *part_of_tensor;
    VEC(struct layout_part) parts;
    bool is_hard;                       // the least sum may be out of reach (layouts_are_hard)
    bool is_cut;                        // the user has interrupted, and a step cannot be measured any more
    bool is_known_only;                 // so that what is missing counts as if it took too long
    bool is_uniform;                    // the layouts that are looked at: the standard ones, or one for all
    int *n_layouts;                     // of every choice
    uint8_t (*layouts)[LAYOUT_COUNT];   // of every choice, the standard one first
};
