// The lines of a report that everybody reads.
#pragma once

struct facts;
struct report;

// "headline": one sentence, which stands first and last: how much faster what was written is, where that was seen, how
// many nodes it has, and how far its outputs agree with those of the original. "summary": a group of at most ten lines.
void summary_add(struct facts *f, const struct report *r);
