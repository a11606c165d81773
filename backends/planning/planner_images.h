// Which tensors stand between operators on images: those that such operators read and write, and what is made of them
// at the same places or with the same channels.
#pragma once
#include "backends/planning/planner.h"

// marks the tensors that stand between operators on images, and those that matrix products read.
void planner_mark_images(struct planner *p, const bool *live);
