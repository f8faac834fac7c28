#include "cli/gpu_probe.h"

#include <string_view>

namespace muscope::cli {
namespace {

// musa stands for the runtime's prefix, BASE for the known GPU. Members are those that CUDA 11 to 13 and MUSA share;
// clocks are attributes, which all of them have.
constexpr std::string_view kProgram = R"(// Prints what this card says of itself, for muscope.
//
//   COMPILE -o probe probe.SUFFIX -lRUNTIME
//   ./probe > my-card.json
//   muscope run --gpu ./my-card.json app.SUFFIX
#include <musa_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void print(const char* key, double value) {
  if (value <= 0) return;  // not known to the driver
  std::printf(",\n  \"%s\": {\"value\": %.0f, \"confidence\": \"measured\", \"source\": \"device properties of this card\"}", key, value);
}

static void print_text(const char* key, const char* text) {
  std::printf(",\n  \"%s\": \"", key);
  for (; *text; ++text)
    if (*text != '"' && *text != '\\' && static_cast<unsigned char>(*text) >= 0x20) std::putchar(*text);
  std::printf("\"");
}

int main(int argc, char** argv) {
  const int device = argc > 1 ? std::atoi(argv[1]) : 0;
  musaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  const musaError_t error = musaGetDeviceProperties(&p, device);
  if (error != musaSuccess) {
    std::fprintf(stderr, "device %d: %s\n", device, musaGetErrorString(error));
    return 1;
  }
  int clock_khz = 0, memory_khz = 0;
  if (musaDeviceGetAttribute(&clock_khz, musaDevAttrClockRate, device) != musaSuccess) clock_khz = 0;
  if (musaDeviceGetAttribute(&memory_khz, musaDevAttrMemoryClockRate, device) != musaSuccess) memory_khz = 0;
  std::printf("{\n  \"schema\": \"muscope.gpu/1\",\n  \"base\": \"BASE\",\n  \"name\": \"my-BASE\"");
  print_text("full_name", p.name);
  print("warp_size", p.warpSize);
  print("sm_count", p.multiProcessorCount);
  print("max_threads_per_block", p.maxThreadsPerBlock);
  print("max_threads_per_sm", p.maxThreadsPerMultiProcessor);
  if (p.warpSize > 0) print("max_warps_per_sm", p.maxThreadsPerMultiProcessor / p.warpSize);
  print("registers_per_block", p.regsPerBlock);
  print("registers_per_sm", p.regsPerMultiprocessor);
  print("shared_per_block", static_cast<double>(p.sharedMemPerBlock));
  print("shared_per_block_optin", static_cast<double>(p.sharedMemPerBlockOptin));
  print("shared_per_sm", static_cast<double>(p.sharedMemPerMultiprocessor));
  print("constant_bytes", static_cast<double>(p.totalConstMem));
  print("l2_bytes", p.l2CacheSize);
  print("memory_bytes", static_cast<double>(p.totalGlobalMem));
  print("memory_bus_bits", p.memoryBusWidth);
  print("clock_mhz", clock_khz / 1000);
  print("memory_clock_mhz", memory_khz / 1000);
  std::printf("\n}\n");
  return 0;
}
)";

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string probe_source(const arch::GpuSpec& gpu) {
  const bool musa = gpu.cc_major == 0;
  std::string text(kProgram);
  replace(text, "BASE", gpu.name);
  replace(text, "COMPILE", musa ? "mcc" : "nvcc");
  replace(text, "RUNTIME", musa ? "musart" : "cudart");
  replace(text, "SUFFIX", musa ? "mu" : "cu");
  if (!musa) replace(text, "musa", "cuda");
  return text;
}

}  // namespace muscope::cli
