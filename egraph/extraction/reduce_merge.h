// The steps of a reduction that shorten what is left.
#pragma once
struct draft;

void reduce_spread_needs(struct draft *d);     // what all nodes of a needed class read is needed
void reduce_find_landmarks(struct draft *d);   // all that is needed, and nodes that need their own class
void reduce_pay_needed(struct draft *d);       // what every selection has is paid once, and free from then on
void reduce_forget_needed(struct draft *d);    // who cannot be on a cycle with a needed class need not read it
void reduce_put_away(struct draft *d);         // classes with one node are put into those who read them
