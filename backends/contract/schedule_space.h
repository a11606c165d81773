// All schedules by which one way may run a step: a text with numbers in it, each from a list of its own.
//     sketch "tile (tile", axes p {28, 14, 7}, q {1, 2}, t {1, 4}    is 12 choices, as "tile (tile p:14 q:2 t:4)"
// Some of them may not suit the step: schedule_features of these cannot be had (backend.h).
#pragma once
#include "backends/contract/choice.h"
#include <stdint.h>

#define SCHEDULE_AXES 6
#define SCHEDULE_VALUES 40
#define SCHEDULE_LOOPS 8
struct schedule_axis {
    char name[8];
    int n;
    int64_t values[SCHEDULE_VALUES];   // rising
};
struct schedule_space {
    char sketch[32];
    char family[16];   // of sketches and steps that may learn from each other
    enum precision precision;
    int n_loops, n_space_loops;      // those along results come first
    int64_t loops[SCHEDULE_LOOPS];   // how long they are
    int n_axes;
    struct schedule_axis axes[SCHEDULE_AXES];
};
typedef VEC(struct schedule_space) schedule_spaces;

void schedule_space_add_loop(struct schedule_space *s, int64_t length, bool is_of_results);
void schedule_axis_add(struct schedule_axis *axis, int64_t value);   // unless it is there, or there is no room
// The choice with the values at these places.
void schedule_space_print(const struct schedule_space *s, const int64_t *places, char ret_choice[CHOICE_SIZE]);
// A value that an axis lacks is one near it. False: the choice is not of the space.
bool schedule_space_parse(const struct schedule_space *s, const char *choice, int64_t *ret_places);

// The features of a step by a schedule, for models of costs and for comparing schedules of different steps. Counts are
// of the whole step, in entries of four bytes.
struct schedule_features {
    double space, reduction;        // iterations of the loops along results, and of those that sum up
    double operations;              // multiplications and additions that are done, also in vain
    double useful;                  // share of these that is not in vain
    double blocks;                  // that are computed one after the other, or by different threads
    double lanes;                   // of vectors of results, over all tiles: what runs at once, if there were that many
    double packed_bytes;            // that blocks hold near, over all blocks
    double near_bytes, far_bytes;   // loaded into registers; read from and written to memory beyond the block
    double tile_vectors;            // accumulators of a tile
    double vector_loads;            // for each multiplication of vectors
    double unrolled;                // statements of the innermost code, over all its kinds
};
