// Tiles for convolutions and products (kernel_tiles.h): those that are worth a trial.
#pragma once
#include "backends/cuda/internal.h"
#include "backends/generated/definitions/kernel_tiles.h"

// False: its tensor cores would round operands more than what is allowed.
bool cuda_suits_tile(const struct cuda_backend *b, const struct step *step, const struct kernel_tile *tile);
// Adds the most promising ones, best first: of each size of tiles the best.
void cuda_list_tiles(const struct cuda_backend *b, const struct plan *plan, const struct step *step, int most,
                     choice_list *list);
