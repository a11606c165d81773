// Exit codes of every program of the project; documented in the README.
#pragma once

enum exit_code {
    EXIT_DONE = 0,           // done (also when nothing improved)
    EXIT_CHECK_FAILED = 1,   // a check failed, or a difference was found
    EXIT_USAGE = 2,          // wrong command line
    EXIT_BAD_INPUT = 3,      // an unreadable or invalid file
    EXIT_UNSUPPORTED = 4,    // a request that this build or machine cannot serve
    EXIT_DOUBTFUL = 5,       // --strict: it is written, and something of it is not known for sure
    EXIT_INTERNAL = 70,      // a defect of the program, or no memory
};
