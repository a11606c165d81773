// The whole spaces of schedules of generated kernels (contract/schedule_space.h), and what a schedule comes to. Values
// that come to the same kernel are listed once.
#pragma once
#include "backends/contract/schedule_space.h"
#include "backends/generated/winograd.h"

// Axes p, q, t, and family and loops; does a schedule suit the definition, and the registers that there are?
void tile_list_schedules(const struct tile_definition *d, struct schedule_space *space);
void tile_list_schedules_by_parts(const struct tile_definition *d, struct schedule_space *space);   // axis k besides
bool tile_describe(const struct tile_definition *d, const struct tile_schedule *s,
                   struct schedule_features *ret_features);
// Axes m, tiles, and family and loops.
void winograd_list_schedules(const struct tile_definition *d, struct schedule_space *space);
bool winograd_describe(const struct tile_definition *d, const struct winograd_schedule *s,
                       struct schedule_features *ret_features);
