// The steps of a reduction that take nodes away.
#pragma once
struct draft;

void reduce_kill_unbuildable(struct draft *d);   // nodes with a child that cannot be built without a cycle
void reduce_kill_unreached(struct draft *d);
