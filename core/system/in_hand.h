// How far threads are with many rules or properties, on stderr. One that takes long is named while it does.
#pragma once
#include "core/memory/arena.h"
#include "core/system/progress.h"
#include <pthread.h>

struct in_hand {
    struct progress progress;
    uint64_t done;
    int threads;
    struct in_hand_of_thread {
        const char *name;   // NULL: nothing
        double began;
    } * of_threads;
    pthread_mutex_t mutex;
    pthread_cond_t has_ended;
    pthread_t watcher;   // unless `progress` is silent
    bool is_over;
};
// `out` may be NULL: silent. `arena` outlives the work.
void in_hand_start(struct in_hand *h, struct arena *arena, FILE *out, const char *label, uint64_t total, int threads);
void in_hand_take(struct in_hand *h, int thread, const char *name);
void in_hand_finish(struct in_hand *h, int thread);   // what it took
void in_hand_end(struct in_hand *h);
