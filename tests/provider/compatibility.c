// The plugin's verdict on forms that were compiled elsewhere: `compatibility PLUGIN TEXT...` prints a number for each.
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const OrtApi *ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    const OrtEpDevice *const *devices;
    OrtEnv *env;
    size_t n, ours = 0;
    if (!ort || ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "test", &env) ||
        ort->RegisterExecutionProviderLibrary(env, "taso", argv[1]) || ort->GetEpDevices(env, &devices, &n))
        return 1;
    while (ours < n && strcmp(ort->EpDevice_EpName(devices[ours]), "TasoExecutionProvider") != 0)
        ours++;
    for (int i = 2; ours < n && i < argc; i++) {
        OrtCompiledModelCompatibility compatibility;
        if (ort->GetModelCompatibilityForEpDevices(&devices[ours], 1, argv[i], &compatibility))
            return 1;
        printf("%d\n", (int)compatibility);
    }
    return ours == n;
}
