// Hand-made records for the tests of this folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "report/report.h"
#include "views/records.h"

namespace muscope::report::testing {

/// An H200 as far as reports need it.
inline arch::GpuSpec h200() {
  const auto number = [](double value) {
    return arch::Sourced{value, true, arch::Confidence::kDocumented, "test", ""};
  };
  arch::GpuSpec gpu;
  gpu.name = "h200";
  gpu.full_name = "NVIDIA H200";
  gpu.architecture = "Hopper GH100";
  gpu.warp_size = number(32);
  gpu.sm_count = number(132);
  gpu.max_threads_per_block = number(1024);
  gpu.max_threads_per_sm = number(2048);
  gpu.max_warps_per_sm = number(64);
  gpu.max_blocks_per_sm = number(32);
  gpu.registers_per_sm = number(65536);
  gpu.registers_per_block = number(65536);
  gpu.max_registers_per_thread = number(255);
  gpu.register_allocation_unit = number(256);
  gpu.register_subpartitions = number(4);
  gpu.shared_per_sm = number(233472);
  gpu.shared_per_block = number(49152);
  gpu.shared_per_block_optin = number(232448);
  gpu.shared_reserved_per_block = number(1024);
  gpu.shared_allocation_unit = number(128);
  gpu.l1_bytes = number(262144);
  gpu.shared_carveouts = {0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472};
  gpu.global.confidence = arch::Confidence::kMeasured;
  gpu.shared.wide_rules_measured = true;
  return gpu;
}

/// One site's counts from per-request figures that are the same in every request.
struct SiteOf {
  views::SiteCounts counts;

  SiteOf(std::uint32_t site, trace::Space space, trace::Kind kind, std::uint64_t requests,
         std::uint32_t lane_bytes = 4) {
    counts.site = site;
    counts.space = space;
    counts.kind = kind;
    counts.executed = counts.requests = requests;
    counts.lanes = 32 * requests;
    counts.bytes = counts.lanes * lane_bytes;
  }
  SiteOf& sectors(std::uint64_t each, std::uint64_t ideal, std::uint64_t lines = 1) {
    counts.sectors = each * counts.requests;
    counts.distinct_sectors = counts.space == trace::Space::kGlobal ? counts.sectors : 0;
    counts.ideal_sectors = ideal * counts.requests;
    counts.lines = lines * counts.requests;
    counts.worst_cost = static_cast<std::uint32_t>(each);
    return *this;
  }
  SiteOf& wavefronts(std::uint64_t each, std::uint64_t ideal) {
    counts.wavefronts = counts.sass_wavefronts = each * counts.requests;
    counts.ideal_wavefronts = counts.sass_ideal_wavefronts = counts.sass_least_wavefronts = ideal * counts.requests;
    counts.worst_cost = static_cast<std::uint32_t>(each);
    return *this;
  }
  SiteOf& distinct(std::uint64_t each) {
    counts.distinct_sectors = each * counts.requests;
    return *this;
  }
  SiteOf& stages(std::uint64_t tag, std::uint64_t data) {
    counts.t_wavefronts = tag * counts.requests;
    counts.data_wavefronts = data * counts.requests;
    return *this;
  }
  SiteOf& software(std::uint64_t each, std::uint64_t ideal) {
    counts.sass_wavefronts = each * counts.requests;
    counts.sass_ideal_wavefronts = counts.sass_least_wavefronts = ideal * counts.requests;
    return *this;
  }
  SiteOf& words(std::uint64_t each) {
    counts.worst_cost = static_cast<std::uint32_t>(each);
    counts.requests = each * counts.executed;
    return *this;
  }
  SiteOf& example(const std::function<std::uint64_t(unsigned lane)>& address) {
    counts.worst_mask = 0xffffffffu;
    for (unsigned lane = 0; lane < 32; ++lane) counts.worst_addresses[lane] = address(lane);
    return *this;
  }
  operator views::SiteCounts() const { return counts; }
};

inline views::Frame frame(std::string file, int line, int column, std::uint32_t inlined_at = views::kNoFrame,
                          std::string function = {}) {
  return {std::move(file), line, column, std::move(function), inlined_at};
}

inline views::FrameCounts instructions(std::uint32_t at, std::uint64_t warps,
                                       std::vector<std::pair<views::InstructionKind, std::uint64_t>> kinds) {
  views::FrameCounts counts;
  counts.frame = at;
  counts.warp_instructions = warps;
  for (const auto& [kind, threads] : kinds) {
    counts.by_kind[static_cast<std::size_t>(kind)] += threads;
    counts.thread_instructions += threads;
  }
  return counts;
}

/// Two kernels of a 1024 x 1024 transpose in 16x16 blocks: reads rows, writes columns (naiveRow), and through a shared
/// tile without padding (tiled).
inline views::ProcessRecord transpose() {
  using trace::Kind;
  using trace::Space;
  using K = views::InstructionKind;
  views::ProcessRecord process;
  process.pid = 4711;
  process.parent = 1;
  process.argv = {"./transpose", "1024"};

  views::KernelInfo naive;
  naive.id = 1;
  naive.name = "naiveRow(float*, const float*, int, int)";
  naive.mangled = "_Z8naiveRowPfPKfii";
  naive.module = "transpose.ptx";
  naive.registers = 16;
  naive.registers_source = "ptxas";
  naive.frames = {frame("transpose.cu", 39, 3), frame("transpose.cu", 41, 3)};
  naive.sites = {{"ld.global.f32", 31, 1, 4}, {"st.global.f32", 33, 1, 4}};

  views::KernelInfo tiled;
  tiled.id = 2;
  tiled.name = "tiled(float*, const float*, int, int)";
  tiled.mangled = "_Z5tiledPfPKfii";
  tiled.module = "transpose.ptx";
  tiled.registers = 18;
  tiled.registers_source = "ptxas";
  tiled.static_shared = 4096;
  tiled.frames = {frame("transpose.cu", 52, 3), frame("transpose.cu", 54, 17)};
  tiled.sites = {{"ld.global.f32", 81, 0, 4},
                 {"st.shared.f32", 82, 0, 4},
                 {"ld.shared.f32", 90, 1, 4},
                 {"st.global.f32", 91, 1, 4}};
  process.kernels = {naive, tiled};

  constexpr std::uint64_t kWarps = 32768, kThreads = 1048576;
  views::LaunchRecord first;
  first.kernel = 1;
  first.grid = {64, 64, 1};
  first.block = {16, 16, 1};
  first.sites = {
      SiteOf(0, Space::kGlobal, Kind::kLoad, kWarps).sectors(4, 4, 2).stages(1, 1).example([](unsigned l) {
        return 0x1000 + 4096 * (l / 16) + 4 * (l % 16);
      }),
      SiteOf(1, Space::kGlobal, Kind::kStore, kWarps).sectors(16, 4, 16).stages(8, 0).example([](unsigned l) {
        return 0x500000 + 4096 * (l % 16) + 4 * (l / 16);
      })};
  first.frames = {instructions(0, kWarps * 10, {{K::kInteger, kThreads * 6}, {K::kMove, kThreads * 4}}),
                  instructions(1, kWarps * 12,
                               {{K::kInteger, kThreads * 8}, {K::kMemory, kThreads * 2}, {K::kControl, kThreads * 2}})};
  views::LaunchRecord second;
  second.index = 1;
  second.kernel = 2;
  second.grid = {32, 32, 1};
  second.block = {32, 32, 1};
  second.sites = {
      SiteOf(0, Space::kGlobal, Kind::kLoad, kWarps).sectors(4, 4).stages(1, 1),
      SiteOf(1, Space::kShared, Kind::kStore, kWarps).wavefronts(1, 1),
      SiteOf(2, Space::kShared, Kind::kLoad, kWarps).wavefronts(32, 1).example([](unsigned l) { return 128 * l; }),
      SiteOf(3, Space::kGlobal, Kind::kStore, kWarps).sectors(4, 4).stages(1, 0)};
  second.frames = {
      instructions(0, kWarps * 14, {{K::kInteger, kThreads * 9}, {K::kMemory, kThreads * 2}, {K::kMove, kThreads * 3}}),
      instructions(1, kWarps * 10,
                   {{K::kInteger, kThreads * 6}, {K::kMemory, kThreads * 2}, {K::kControl, kThreads * 2}})};
  process.launches = {first, second};
  process.transfers = {{views::TransferKind::kHostToDevice, views::HostMemory::kPageable, false, 1, 4194304,
                        "cudaMemcpy", "transpose.cu:120"},
                       {views::TransferKind::kDeviceToHost, views::HostMemory::kPinned, false, 2, 8388608, "cudaMemcpy",
                        "transpose.cu:131"}};
  return process;
}

/// The lines that transpose() refers to.
inline std::optional<std::string> transpose_source(const std::string& file, int line) {
  if (file != "transpose.cu") return {};
  switch (line) {
    case 39:
      return "  const int ix = blockIdx.x * blockDim.x + threadIdx.x;";
    case 41:
      return "  out[ix * ny + iy] = in[iy * nx + ix];";
    case 52:
      return "  tile[threadIdx.y][threadIdx.x] = in[y * nx + x];";
    case 54:
      return "\tout[y * ny + x] = tile[threadIdx.x][threadIdx.y];";
    default:
      return {};
  }
}

inline BuildOptions options_of(const views::ProcessRecord& process) {
  BuildOptions options;
  options.argv = process.argv;
  options.exit_text = "exited with 0";
  options.toolchain = "clang 19.1.7";
  options.tool_version = "0.1.0";
  return options;
}

}  // namespace muscope::report::testing
