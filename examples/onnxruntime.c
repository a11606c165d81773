/* Runs a model once on zeros in ONNX Runtime, with what taso runs faster in it run by taso:
 *
 *     cc onnxruntime.c -I.../onnxruntime -lonnxruntime
 *     ./a.out libonnxruntime_providers_taso.so model.onnx [THREADS]
 *
 * All sizes of the model are fixed, and its inputs are f32. */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const OrtApi *ort;

static void check(OrtStatus *status)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    exit(1);
}

/* The device of the plugin among all that are registered. */
static const OrtEpDevice *find_device(const OrtEnv *env)
{
    const OrtEpDevice *const *devices;
    size_t n;
    check(ort->GetEpDevices(env, &devices, &n));
    for (size_t i = 0; i < n; i++)
        if (strcmp(ort->EpDevice_EpName(devices[i]), "TasoExecutionProvider") == 0)
            return devices[i];
    fprintf(stderr, "the plugin has no device\n");
    exit(1);
}

static OrtSession *open_session(OrtEnv *env, const char *model, const char *threads)
{
    const char *const keys[] = {"threads"}, *const values[] = {threads};
    const OrtEpDevice *device = find_device(env);
    OrtSessionOptions *options;
    OrtSession *session;
    check(ort->CreateSessionOptions(&options));
    check(ort->SetIntraOpNumThreads(options, atoi(threads)));
    check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, keys, values, 1));
    check(ort->CreateSession(env, model, options, &session));
    ort->ReleaseSessionOptions(options);
    return session;
}

static OrtValue *make_zeros(const OrtSession *session, size_t input, OrtAllocator *allocator)
{
    OrtTypeInfo *type;
    const OrtTensorTypeAndShapeInfo *shape;
    int64_t dims[8];
    size_t rank, bytes;
    OrtValue *value;
    void *data;
    check(ort->SessionGetInputTypeInfo(session, input, &type));
    check(ort->CastTypeInfoToTensorInfo(type, &shape));
    check(ort->GetDimensionsCount(shape, &rank));
    check(ort->GetDimensions(shape, dims, rank <= 8 ? rank : 8));
    check(ort->CreateTensorAsOrtValue(allocator, dims, rank <= 8 ? rank : 8, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                      &value));
    check(ort->GetTensorSizeInBytes(value, &bytes));
    check(ort->GetTensorMutableData(value, &data));
    memset(data, 0, bytes);
    ort->ReleaseTypeInfo(type);
    return value;
}

static void run(OrtSession *session)
{
    OrtAllocator *allocator;
    OrtValue *inputs[64], *output = NULL;
    char *input_names[64], *output_name;
    size_t n, bytes;
    check(ort->GetAllocatorWithDefaultOptions(&allocator));
    check(ort->SessionGetInputCount(session, &n));
    for (size_t i = 0; i < n && i < 64; i++) {
        check(ort->SessionGetInputName(session, i, allocator, &input_names[i]));
        inputs[i] = make_zeros(session, i, allocator);
    }
    check(ort->SessionGetOutputName(session, 0, allocator, &output_name));
    check(ort->Run(session, NULL, (const char *const *)input_names, (const OrtValue *const *)inputs, n,
                   (const char *const *)&output_name, 1, &output));
    check(ort->GetTensorSizeInBytes(output, &bytes));
    printf("output %s: %zu bytes\n", output_name, bytes);
    ort->ReleaseValue(output);
    check(ort->AllocatorFree(allocator, output_name));
    for (size_t i = 0; i < n && i < 64; i++) {
        ort->ReleaseValue(inputs[i]);
        check(ort->AllocatorFree(allocator, input_names[i]));
    }
}

int main(int argc, char **argv)
{
    OrtEnv *env;
    ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    if (argc < 3 || !ort) {
        fprintf(stderr, argc < 3 ? "usage: %s PLUGIN MODEL.onnx [THREADS]\n" : "%s: ONNX Runtime is too old\n",
                argv[0]);
        return 2;
    }
    check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "example", &env));
    check(ort->RegisterExecutionProviderLibrary(env, "taso", argv[1]));
    OrtSession *session = open_session(env, argv[2], argc > 3 ? argv[3] : "1");
    run(session);
    ort->ReleaseSession(session);
    check(ort->UnregisterExecutionProviderLibrary(env, "taso"));
    ort->ReleaseEnv(env);
    return 0;
}
