// Functions that are not defined everywhere (docs/theory/symbolic.md, S8).
#pragma once
#include "verifier/symbolic_proof/family.h"

bool family_keeps_domains(struct family *f);   // both sides are undefined at the same numbers
