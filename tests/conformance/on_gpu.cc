// Runs every form on a GPU, from the machine code that ptxas makes for sm_90.
//   nvcc -O2 -std=c++20 -o on_gpu on_gpu.cc forms.cc inputs.cc assemble.cc -lcuda
//   ./on_gpu forms.tsv DIGESTS VALUES
// DIGESTS gets form, threads and digest of the results; VALUES the results themselves (show_conformance compare reads
// them).
#include <cuda.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "run.h"

namespace {

using namespace muscope::conformance;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "?";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(1);
}

std::vector<std::uint64_t> run(CUmodule module, const Form& form, std::size_t index) {
  CUfunction kernel;
  check(cuModuleGetFunction(&kernel, module, ("f" + std::to_string(index)).c_str()), form.name.c_str());
  const std::vector<std::uint64_t> in = inputs(form);
  std::vector<std::uint64_t> results(tuples(form) * form.results.size());
  CUdeviceptr from = 0, to = 0;
  check(cuMemAlloc(&from, in.size() * 8 + 8), "memory");
  check(cuMemAlloc(&to, results.size() * 8), "memory");
  if (!in.empty()) check(cuMemcpyHtoD(from, in.data(), in.size() * 8), "copy");
  check(cuMemsetD8(to, 0, results.size() * 8), "fill");
  void* parameters[] = {&from, &to};
  check(cuLaunchKernel(kernel, static_cast<unsigned>(tuples(form) / kBlock), 1, 1, kBlock, 1, 1, 0, nullptr, parameters,
                       nullptr),
        form.name.c_str());
  check(cuCtxSynchronize(), form.name.c_str());
  check(cuMemcpyDtoH(results.data(), to, results.size() * 8), "copy");
  check(cuMemFree(from), "free");
  check(cuMemFree(to), "free");
  return results;
}

}  // namespace

int main(int count, char** words) try {
  if (count != 4) {
    std::fputs("usage: on_gpu FORMS DIGESTS VALUES\n", stderr);
    return 2;
  }
  const std::vector<Form> forms = read_forms(words[1]);
  FILE* digests = std::fopen(words[2], "w");
  FILE* values = std::fopen(words[3], "wb");
  if (!digests || !values) return 2;
  CUdevice device;
  CUcontext context;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "device");
  check(cuDevicePrimaryCtxRetain(&context, device), "context");
  check(cuCtxSetCurrent(context), "context");
  constexpr std::size_t kPerModule = 100;
  for (std::size_t at = 0; at < forms.size(); at += kPerModule) {
    const std::span<const Form> part(&forms[at], std::min(kPerModule, forms.size() - at));
    std::string problem;
    const std::string cubin = assemble(module_text(part), problem);
    if (cubin.empty()) {
      std::fprintf(stderr, "no machine code: %s\n", problem.c_str());
      return 1;
    }
    CUmodule module;
    check(cuModuleLoadData(&module, cubin.data()), "module");
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::vector<std::uint64_t> results = run(module, part[i], i);
      std::fprintf(digests, "%s\t%zu\t%016" PRIx64 "\n", part[i].name.c_str(), tuples(part[i]), digest(results));
      const std::string bytes = packed(part[i], results);
      std::fwrite(bytes.data(), 1, bytes.size(), values);
    }
    check(cuModuleUnload(module), "unload");
  }
  if (std::fclose(digests) || std::fclose(values)) return 1;
  std::printf("%zu forms\n", forms.size());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
