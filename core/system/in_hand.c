// A thread of its own shows what is in hand, as those that work may be busy with one thing each.
#include "core/system/in_hand.h"

#include "core/system/clock.h"
#include <time.h>

static const double LONG_SECONDS = 10;

static const struct in_hand_of_thread *longest(const struct in_hand *h)
{
    const struct in_hand_of_thread *found = NULL;
    for (int t = 0; t < h->threads; t++)
        if (h->of_threads[t].name && (!found || h->of_threads[t].began < found->began))
            found = &h->of_threads[t];
    return found;
}

static void show(struct in_hand *h)
{
    const struct in_hand_of_thread *first = longest(h);
    double seconds = first ? clock_seconds() - first->began : 0;
    if (seconds >= LONG_SECONDS)
        progress_update(&h->progress, h->done, "%s takes long: %.0f s so far", first->name, seconds);
    else
        progress_update(&h->progress, h->done, NULL);
}

static void *watch(void *in_hand)
{
    struct in_hand *h = in_hand;
    pthread_mutex_lock(&h->mutex);
    while (!h->is_over) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_sec++;
        pthread_cond_timedwait(&h->has_ended, &h->mutex, &next);
        show(h);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

void in_hand_start(struct in_hand *h, struct arena *arena, FILE *out, const char *label, uint64_t total, int threads)
{
    *h = (struct in_hand){.threads = threads, .of_threads = arena_array(arena, struct in_hand_of_thread, threads)};
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->has_ended, NULL);
    progress_start(&h->progress, out, label, total);
    if (out && pthread_create(&h->watcher, NULL, watch, h) != 0)
        h->progress.out = NULL;
}

void in_hand_take(struct in_hand *h, int thread, const char *name)
{
    pthread_mutex_lock(&h->mutex);
    h->of_threads[thread] = (struct in_hand_of_thread){name, clock_seconds()};
    pthread_mutex_unlock(&h->mutex);
}

void in_hand_finish(struct in_hand *h, int thread)
{
    pthread_mutex_lock(&h->mutex);
    h->of_threads[thread].name = NULL;
    h->done++;
    show(h);
    pthread_mutex_unlock(&h->mutex);
}

static void stop_watching(struct in_hand *h)
{
    pthread_mutex_lock(&h->mutex);
    h->is_over = true;
    pthread_cond_signal(&h->has_ended);
    pthread_mutex_unlock(&h->mutex);
    pthread_join(h->watcher, NULL);
}

void in_hand_end(struct in_hand *h)
{
    if (h->progress.out)
        stop_watching(h);
    progress_end(&h->progress);
    pthread_cond_destroy(&h->has_ended);
    pthread_mutex_destroy(&h->mutex);
}
