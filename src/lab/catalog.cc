#include "lab/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"

namespace muscope::lab {
namespace {

constexpr Experiment kExperiments[] = {
    {"ceilings", "memory", "read, write, copy and triad of 1 MiB to 1 GiB: what a mix of accesses can reach at all"},
    {"cache-state", "memory", "the same with an L2 cache that holds other data, modified data, or this data"},
    {"latency-registers", "memory", "dependent arithmetic and shuffles"},
    {"latency-shared", "memory", "dependent loads of shared memory"},
    {"latency-constant", "memory", "dependent loads of constant memory, 512 B to 64 KiB"},
    {"latency-l1", "memory", "dependent loads through the L1 cache, 2 KiB to 1 GiB"},
    {"latency-l2-dram", "memory", "dependent loads past the L1 cache, 2 KiB to 1 GiB"},
    {"latency-texture", "memory", "dependent texel fetches"},
    {"latency-atomics", "memory", "dependent atomics of shared and global memory"},
    {"latency-host", "memory", "dependent loads of host memory (zero-copy)"},
    {"latency-l2-halves", "memory", "one line from every multiprocessor: near and far halves of the L2 cache"},
    {"bandwidth-registers", "memory", "operands and results of multiply-adds"},
    {"bandwidth-shared", "memory", "loads of shared memory of 4, 8 and 16 bytes per lane"},
    {"bandwidth-l1", "memory", "loads that hit in the L1 cache"},
    {"bandwidth-constant", "memory", "one constant for all lanes, 1 to 64 KiB"},
    {"bandwidth-texture", "memory", "texel fetches that hit in the L1 cache"},
    {"bandwidth-l2-dram", "memory", "a range read again and again, 1 MiB to 1 GiB"},
    {"bandwidth-l2-halves", "memory", "what lies in the near half of the L2 cache, in the far half, in both"},
    {"latency-cluster", "clusters",
     "shared memory of other blocks of a cluster of 2 to 16 (distributed shared memory)"},
    {"latency-barrier", "clusters", "barriers of a block and of clusters of 1 to 16"},
    {"bandwidth-cluster", "clusters", "loads, stores and atomic adds in shared memory of other blocks of a cluster"},
    {"stride-read", "patterns", "every n-th word read"},
    {"stride-write", "patterns", "every n-th word written"},
    {"offset-read", "patterns", "warps that begin inside a sector, reading"},
    {"offset-write", "patterns", "warps that begin inside a sector, writing"},
    {"vector-width", "patterns", "1 to 16 bytes per lane"},
    {"loads-in-flight", "patterns", "how many bytes a thread asks for before it uses the first"},
    {"block-size", "patterns", "32 to 1024 threads per block"},
    {"block-shape", "patterns", "256 threads from 256 x 1 to 1 x 256 on rows of an image"},
    {"aos-soa", "patterns", "structures against arrays, 2 to 16 words: all fields, one field"},
    {"gather", "patterns", "pieces of 4 to 512 bytes at any place"},
    {"cache-policy", "patterns", "neighbours read with the L1 on, off, streaming, read-only"},
    {"row-pitch", "patterns", "columns whose addresses differ by powers of two (partition camping)"},
    {"transposes", "transposes", "the eight kernels of the classic article, 1024 to 16384 rows"},
    {"bank-conflicts", "onchip", "shared memory, 1- to 32-way, 4 to 16 bytes per lane, padding, broadcast"},
    {"atomics-global", "onchip", "atomic adds on one word, one line, many lines; int and float"},
    {"atomics-shared", "onchip", "atomic adds in shared memory, 1 to 32 lanes per word, one bank"},
    {"constant-divergence", "onchip", "1 to 32 different constants per warp, against global memory"},
    {"texture-locality", "threads", "texture and global memory along rows and columns, filtered too"},
    {"divergence", "threads", "1 to 32 paths per warp"},
    {"occupancy", "threads", "bandwidth with 1 to 8 blocks per multiprocessor, one and four loads in flight"},
    {"register-pressure", "threads", "64 values per thread with 128 down to 32 registers: spills"},
    {"launch", "transfers", "an empty kernel: events, host, stream of launches, graph"},
    {"copy-to-device-pageable", "transfers", "cudaMemcpyAsync from malloc'ed memory, 1 KiB to 256 MiB"},
    {"copy-to-device-pinned", "transfers", "from pinned memory"},
    {"copy-to-device-write-combined", "transfers", "from write-combined memory"},
    {"copy-to-host-pageable", "transfers", "to malloc'ed memory"},
    {"copy-to-host-pinned", "transfers", "to pinned memory"},
    {"copy-to-host-write-combined", "transfers", "to write-combined memory"},
    {"copy-both-ways", "transfers", "pinned, both directions at once"},
    {"zero-copy-read", "transfers", "lanes read host memory, 4 KiB to 256 MiB"},
    {"zero-copy-write", "transfers", "lanes write host memory"},
    {"managed", "transfers", "managed memory: first touch by the device, prefetch both ways, touch by the host"},
    {"copy-in-device", "transfers", "cudaMemcpyAsync, lanes and bulk copies inside the device"},
    {"peer-pairs", "peers", "copies between all pairs of GPUs"},
    {"peer-sizes", "peers", "copies from GPU 0 to 1 by copy engine and by lanes, 4 KiB to 256 MiB"},
    {"peer-both-ways", "peers", "copies between GPU 0 and 1 in both directions at once, by copy engines and by lanes"},
    {"peer-lanes", "peers", "lanes that read and write the other GPU's memory"},
    {"peer-latency", "peers", "dependent loads and atomics in the other GPU's memory"},
    {"nccl-all-reduce", "peers", "a sum over all GPUs for all of them, by NCCL where its library is found"},
    {"nccl-reduce", "peers", "a sum over all GPUs for one of them"},
    {"nccl-reduce-scatter", "peers", "a sum over all GPUs, of which each gets its part"},
    {"nccl-all-gather", "peers", "all GPUs get the parts of all"},
    {"nccl-broadcast", "peers", "GPU 0 gives to all"},
    {"nccl-send-receive", "peers", "GPU 0 gives to 1, and each GPU to the next at once"},
    {"ladder-transpose", "ladder-transpose", "a transpose from the naive version to muscope::kernels::transpose()"},
    {"ladder-reduce", "ladder-reduce", "a sum, rung by rung"},
    {"ladder-scan", "ladder-scan", "a scan, rung by rung"},
    {"ladder-histogram", "ladder-histogram", "a histogram, rung by rung, uniform and constant bytes"},
    {"ladder-convolution", "ladder-convolution", "a 3x3 convolution, rung by rung"},
    {"ladder-nbody", "ladder-nbody", "all pairs of bodies, rung by rung"},
    {"ladder-layout", "ladder-layout", "structures to arrays, rung by rung"},
    {"ladder-segmented", "ladder-segmented", "sums of short segments, rung by rung"},
};

}  // namespace

std::span<const Experiment> experiments() { return kExperiments; }

std::vector<Experiment> select(const std::vector<std::string>& words) {
  if (words.empty()) return {std::begin(kExperiments), std::end(kExperiments)};
  std::vector<Experiment> selected;
  const auto has = [](const Experiment& e, const std::string& word) { return e.name.find(word) != std::string::npos; };
  for (const std::string& word : words) {
    if (word.empty() || std::none_of(std::begin(kExperiments), std::end(kExperiments),
                                     [&](const Experiment& e) { return has(e, word); }))
      fail("D119", fmt::format("no experiment's name contains '{}'", word), "muscope lab --list shows them");
  }
  for (const Experiment& e : kExperiments) {
    if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return has(e, word); }))
      selected.push_back(e);
  }
  return selected;
}

std::vector<ProgramPlan> plan(const std::vector<Experiment>& selected) {
  std::vector<ProgramPlan> plans;
  for (const Experiment& e : selected) {
    auto at = std::find_if(plans.begin(), plans.end(), [&](const ProgramPlan& p) { return p.program == e.program; });
    if (at == plans.end()) at = plans.insert(plans.end(), {std::string(e.program), {}});
    at->only += (at->only.empty() ? "" : ",") + std::string(e.name);
  }
  for (ProgramPlan& p : plans) {
    const auto all = std::count_if(std::begin(kExperiments), std::end(kExperiments),
                                   [&](const Experiment& e) { return e.program == p.program; });
    if (std::count(p.only.begin(), p.only.end(), ',') + 1 == all) p.only.clear();
  }
  return plans;
}

std::string source_of(std::string_view program) {
  constexpr std::string_view kLadder = "ladder-";
  if (program.starts_with(kLadder)) return fmt::format("kernels/ladder/{}.cu", program.substr(kLadder.size()));
  return fmt::format("lab/{}.cu", program);
}

}  // namespace muscope::lab
