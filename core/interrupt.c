// A signal handler can only speak through process-wide flags.
#include "core/interrupt.h"
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t is_requested, ends_at_once;

static void ask_to_stop_or_end(int signal_number)
{
    if (is_requested || ends_at_once) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    is_requested = 1;
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop_or_end, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_end_at_once(bool is_wanted)
{
    ends_at_once = is_wanted;
}

bool interrupt_requested(void)
{
    return is_requested != 0;
}
