// The load that other programs are on this machine at the moment.
#pragma once

struct text;

// Threads of other programs that run or wait for a processor, about: the median of a few looks within 50 ms, in which
// this program is to be idle. 0 where the system does not tell.
int machine_others_running(void);
// "load 9 on 2 processors", of the last minute; "" where the system does not tell.
void machine_print_load(struct text *out);
