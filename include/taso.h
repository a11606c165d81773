/* The library of taso: ONNX models in, faster equivalent ones out, and models run.
 *
 *     taso_options *options = taso_options_new();
 *     taso_error error;
 *     taso_report *report;
 *     if (taso_optimize_file(options, "model.onnx", "fast.onnx", &report, &error) != TASO_DONE)
 *         fprintf(stderr, "%s\n", error.message);
 *     else
 *         puts(taso_report_text(report));
 *     taso_report_free(report);
 *     taso_options_free(options);
 *
 * Calls on different objects may be made from several threads at once; one object serves one thread at a time. Nothing
 * is printed and the process is never ended, except that memory which runs out ends it, as in most programs. Strings
 * are UTF-8 and NUL-terminated. Every object that a function makes is freed by its own function, which takes NULL. */
#ifndef TASO_H
#define TASO_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TASO_API __attribute__((visibility("default")))
#else
#define TASO_API
#endif

/* Grows when a program that was made with an older header would not work any more. */
#define TASO_ABI_VERSION 1
TASO_API int taso_abi_version(void);       /* of the library that is loaded */
TASO_API const char *taso_version(void);   /* "0.1.0" */

/* The same numbers as the exit codes of the programs. */
typedef enum taso_status {
    TASO_DONE = 0,          /* also when nothing could be improved */
    TASO_CHECK_FAILED = 1,  /* the result is not equal to the original: nothing was written */
    TASO_USAGE = 2,         /* an option or argument that makes no sense */
    TASO_BAD_INPUT = 3,     /* an unreadable or invalid file */
    TASO_UNSUPPORTED = 4,   /* what this build or machine cannot do */
    TASO_INTERNAL = 70      /* a defect of the library */
} taso_status;

typedef struct taso_error {
    taso_status status;
    unsigned line, column;   /* from 1; 0: unknown */
    char file[256];          /* empty: no file is concerned */
    char message[768];       /* one line */
} taso_error;

/* ---- options ---- */

typedef struct taso_options taso_options;
TASO_API taso_options *taso_options_new(void);   /* the standard values of taso-opt */
TASO_API void taso_options_free(taso_options *options);
/* An option of taso-opt by its long name, without dashes ("budget", "threads", "shape", "costs"), and its value as on a
 * command line; "true" or "false" for a switch. `shape` and `without` may be set several times. Those that name outputs
 * (output, json, html, dot) and what is printed (quiet, verbose, explain) are no options here. TASO_USAGE otherwise. */
TASO_API taso_status taso_options_set(taso_options *options, const char *name, const char *value,
                                      taso_error *ret_error);
/* Called now and then, at most every 20 ms, by the thread that optimizes; not 0: end soon, with the best so far. */
typedef int taso_progress_function(void *context);
TASO_API void taso_options_set_progress(taso_options *options, taso_progress_function *function, void *context);

/* ---- optimizing ---- */

typedef struct taso_report taso_report;
typedef struct taso_buffer {
    void *data;
    size_t size;
} taso_buffer;

/* Writes what taso-opt writes: the optimized model, or the original where that is as fast. `output` may be NULL:
 * nothing is written. `ret_report` may be NULL; it is set when the status is TASO_DONE or TASO_CHECK_FAILED, else
 * to NULL. */
TASO_API taso_status taso_optimize_file(const taso_options *options, const char *input, const char *output,
                                        taso_report **ret_report, taso_error *ret_error);
/* A model in memory, without external data, of less than 2 GiB. */
TASO_API taso_status taso_optimize_buffer(const taso_options *options, const void *model, size_t size,
                                          taso_buffer *ret_model, taso_report **ret_report, taso_error *ret_error);
TASO_API void taso_buffer_free(taso_buffer *buffer);

TASO_API const char *taso_report_text(const taso_report *report);   /* as taso-opt prints it */
TASO_API const char *taso_report_json(const taso_report *report);   /* as taso-opt --json writes it */
TASO_API const char *taso_report_html(const taso_report *report);   /* as taso-opt --html writes it: a whole page */
TASO_API void taso_report_free(taso_report *report);

/* ---- proving ---- */

typedef struct taso_verdicts taso_verdicts;
typedef struct taso_verdict {   /* texts live as long as the verdicts */
    const char *name;      /* of the rule or property */
    const char *verdict;   /* as taso-verify names it: "proved", "proved under conditions", "checked", "refuted" */
    int is_proved;         /* for all sizes, under the conditions that `text` has: a written theorem covers it */
    const char *reason;    /* a counterexample, a doubt, why conditions were needed; empty where none is */
    const char *text;      /* the rule with its conditions and certificate, where it is proved; else as it was given */
} taso_verdict;

/* Judges every rule of a text as of a .rules file from the definitions of the operators, as taso-verify rules --no-z3
 * does. Of `options`, which may be NULL, the progress callback counts, asked before each rule; those that it leaves out
 * have no verdict. TASO_BAD_INPUT: the text cannot be read, and nothing was judged. */
TASO_API taso_status taso_verify_rules(const taso_options *options, const char *text, taso_verdicts **ret_verdicts,
                                       taso_error *ret_error);
/* The same of properties, as of a .properties file. */
TASO_API taso_status taso_verify_properties(const taso_options *options, const char *text,
                                            taso_verdicts **ret_verdicts, taso_error *ret_error);
TASO_API size_t taso_verdicts_count(const taso_verdicts *verdicts);
TASO_API taso_verdict taso_verdicts_get(const taso_verdicts *verdicts, size_t index);
TASO_API void taso_verdicts_free(taso_verdicts *verdicts);

/* ---- running ---- */

/* A model prepared for this processor. */
typedef struct taso_session taso_session;

/* Element types by their names: f32 f64 f16 bf16 bool u8 i8 u16 i16 u32 i32 u64 i64. */
typedef struct taso_tensor {
    const char *name;    /* of the model's input or output */
    const char *dtype;
    int rank;
    const int64_t *dims;
    void *data;          /* dense, row-major */
    size_t bytes;
} taso_tensor;

/* Of the options `threads`, `shape`, `costs`, `fold-limit`, `exact` and `tolerance` count. Models with operators that
 * only ONNX Runtime knows are TASO_UNSUPPORTED. */
TASO_API taso_session *taso_session_open_file(const taso_options *options, const char *model, taso_error *ret_error);
TASO_API taso_session *taso_session_open_buffer(const taso_options *options, const void *model, size_t size,
                                                taso_error *ret_error);   /* copies the model */
TASO_API void taso_session_close(taso_session *session);
TASO_API size_t taso_session_input_count(const taso_session *session);
TASO_API size_t taso_session_output_count(const taso_session *session);
/* `data` is NULL; what it points to lives as long as the session. */
TASO_API taso_tensor taso_session_input(const taso_session *session, size_t index);
TASO_API taso_tensor taso_session_output(const taso_session *session, size_t index);
/* `inputs` and `outputs` are the data of all inputs and outputs in the model's order, each of the size that
 * taso_session_input and taso_session_output tell. Nothing is copied beside. */
TASO_API taso_status taso_session_run(taso_session *session, const void *const *inputs, void *const *outputs,
                                      taso_error *ret_error);

#ifdef __cplusplus
}
#endif
#endif
