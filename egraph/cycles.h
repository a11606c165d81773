// An e-graph without cycles, by filtering e-nodes (Tensat, Section 5.2): then any choice of a node for each class is a
// graph.
//
// The oldest node of a class always stays: its children were there before it, so the oldest nodes of all classes are a
// graph; and of the nodes on a cycle the youngest is never the oldest of its class, because what stands before it on
// the cycle is older and read something older yet, which is in that class now. So filtering the youngest node of a
// cycle leaves every class that can be made.
#pragma once
#include "egraph/egraph.h"

struct ecycles {
    const struct egraph *e;
    VEC(uint32_t) rank;      // of every class of a clean e-graph without cycles: above those of all it reads
    VEC(uint32_t) visited;   // by which question
    VEC(eclass_id) stack;
    uint32_t question;
};
void ecycles_init(struct ecycles *c, const struct egraph *e);
void ecycles_free(struct ecycles *c);

// Filters the youngest node of each cycle until there are none, and ranks the classes. Gives the number filtered.
size_t ecycles_resolve(struct ecycles *c, struct egraph *e);
// Does one class read the other, through any nodes that are not filtered? Vanilla: by looking at the e-graph as it is
// now, which may have unions that are not rebuilt.
bool ecycles_reaches(struct ecycles *c, eclass_id from, eclass_id to);
// The same by the ranks of the last ecycles_resolve, which most often answer it alone; what is younger is not seen, so
// that a few cycles slip through.
bool ecycles_reached(struct ecycles *c, eclass_id from, eclass_id to);
