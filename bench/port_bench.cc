// Speed of `muscope port` on one core: source text a minute, from and to memory.
//
//   Sources      the repository's CUDA programs, one after the other, some hundred times
//   NamesOnly    nothing but names of the runtime: more to change than any program has
//   LongLine     one line of 16 MiB
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <string>

#include "port/port.h"
#include "port/tree.h"

namespace muscope::port {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeast = std::size_t{16} << 20;  ///< bytes of each text

const Rules& rules() {
  static std::list<std::string> kept;
  static const Rules all = [] {
    std::vector<RuleText> tables;
    for (const auto& entry : fs::directory_iterator(MUSCOPE_SOURCE_DIR "/data/port")) {
      kept.push_back(entry.path().stem().string());
      const std::string& name = kept.back();
      kept.push_back(*read_file(entry.path().string(), std::size_t{1} << 24));
      tables.push_back({name, kept.back()});
    }
    return Rules(tables);
  }();
  return all;
}

std::string repeated(const std::string& text) {
  std::string all;
  while (all.size() < kLeast) all += text;
  return all;
}

std::string sources() {
  std::vector<fs::path> files;
  for (const char* folder : {"/examples", "/tests/programs", "/kernels"})
    for (const auto& entry : fs::recursive_directory_iterator(std::string(MUSCOPE_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".cu" || entry.path().extension() == ".h") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += *read_file(file.string(), std::size_t{1} << 24);
  return repeated(text);
}

void port(benchmark::State& state, const std::string& text) {
  Options options;
  std::string after;
  for (auto _ : state) {
    benchmark::DoNotOptimize(port_text(text, "a.cu", rules(), options, after));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * static_cast<std::int64_t>(state.iterations()));
  state.counters["MB/min"] = benchmark::Counter(
      60e-6 * static_cast<double>(text.size()) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void Sources(benchmark::State& state) { port(state, sources()); }
void NamesOnly(benchmark::State& state) {
  port(state, repeated("cudaMalloc(&a, cudaMemcpyHostToDevice, CUDA_SUCCESS);\n"));
}
void LongLine(benchmark::State& state) { port(state, repeated("cudaFree(a[i]); ")); }

BENCHMARK(Sources)->Unit(benchmark::kMillisecond);
BENCHMARK(NamesOnly)->Unit(benchmark::kMillisecond);
BENCHMARK(LongLine)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muscope::port
