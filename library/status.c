// Errors, as the other files of the library need them.
#include "library/library.h"
#include "library/memory_file.h"

#include <stdio.h>
#include <string.h>

int taso_abi_version(void)
{
    return TASO_ABI_VERSION;
}

const char *taso_version(void)
{
    return TASO_VERSION;
}

taso_status library_report_error(const struct error *error, taso_error *ret_error)
{
    taso_status status = (taso_status)error->code;
    if (!ret_error)
        return status;
    *ret_error = (taso_error){.status = status, .line = error->line, .column = error->column};
    if (!memory_file_is_at(error->file))
        snprintf(ret_error->file, sizeof ret_error->file, "%s", error->file);
    snprintf(ret_error->message, sizeof ret_error->message, "%s", error->message);
    return status;
}

taso_status library_refuse(taso_status status, taso_error *ret_error, const char *message)
{
    struct error error = {0};
    error_set_code(&error, (enum exit_code)status, NULL, "%s", message);
    return library_report_error(&error, ret_error);
}
