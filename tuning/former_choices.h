// By which choices the steps of a plan run before they are tuned, so that they can have them back.
#pragma once
#include "backends/contract/backend.h"

struct former_choices;
struct former_choices *former_choices_note(struct backend *b, const struct plan *plan);
void former_choices_free(struct former_choices *f);
// The steps run by them again, in all models. Trials stay known.
void former_choices_restore(const struct former_choices *f, struct backend *b);
