#include <gtest/gtest.h>

#include <bit>

#include "advice/test_launch.h"
#include "arch/gpu_spec.h"

namespace muscope::advice::testing {

TestLaunch::TestLaunch(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block) {
  kernel.id = 1;
  kernel.name = kernel.mangled = "kernel";
  kernel.registers = 32;
  kernel.registers_source = "ptxas 13.0.88";
  kernel.machine_source = "ptxas 13.0.88";
  record.kernel = 1;
  record.grid = grid;
  record.block = block;
}

std::uint32_t TestLaunch::site(trace::Space space, trace::Kind kind, std::uint8_t bytes, int line, std::string text) {
  views::Frame frame;
  frame.file = "test.cu";
  frame.line = line;
  kernel.frames.push_back(frame);
  views::Site site;
  site.text = std::move(text);
  site.frame = static_cast<std::uint32_t>(kernel.frames.size() - 1);
  site.bytes = bytes;
  kernel.sites.push_back(site);
  shapes_.push_back({space, kind, bytes});
  return static_cast<std::uint32_t>(kernel.sites.size() - 1);
}

void TestLaunch::warp(std::uint32_t site, std::uint64_t block, std::uint32_t warp, const WarpAddresses& addresses) {
  accesses_.push_back({site, block, warp, addresses, -1});
}

void TestLaunch::barrier(int line, bool in_loop) {
  std::size_t at = 0;
  while (at < barriers_.size() && kernel.frames[barriers_[at].frame].line != line) ++at;
  if (at == barriers_.size()) {
    views::Frame frame;
    frame.file = "test.cu";
    frame.line = line;
    kernel.frames.push_back(frame);
    barriers_.push_back(
        {static_cast<std::uint32_t>(1000 - line), static_cast<std::uint32_t>(kernel.frames.size() - 1), in_loop, 0});
  }
  const std::uint64_t blocks = std::uint64_t{record.grid[0]} * record.grid[1] * record.grid[2];
  for (std::uint64_t block = 0; block < blocks; ++block) accesses_.push_back({0, block, 0, {}, static_cast<int>(at)});
}

void TestLaunch::run(std::uint32_t site, const Index& address) {
  const auto [nx, ny, nz] = record.block;
  const std::uint64_t threads = std::uint64_t{nx} * ny * nz;
  const std::uint64_t blocks = std::uint64_t{record.grid[0]} * record.grid[1] * record.grid[2];
  for (std::uint64_t block = 0; block < blocks; ++block)
    for (std::uint32_t w = 0; w < (threads + 31) / 32; ++w) {
      WarpAddresses addresses;
      addresses.fill(kInactive);
      for (std::uint64_t t = w * 32; t < std::min<std::uint64_t>(threads, w * 32 + 32); ++t)
        addresses[t % 32] = address(t % nx, t / nx, block % record.grid[0], block / record.grid[0]);
      warp(site, block, w, addresses);
    }
}

report::Report TestLaunch::report() {
  views::AccessCounts counts(kernel.sites.size(), record.grid);
  std::uint64_t issue = 0;
  for (const Pending& p : accesses_) {
    if (p.barrier >= 0) {
      counts.barrier(p.block, barriers_[static_cast<std::size_t>(p.barrier)].op, true);
      continue;
    }
    trace::WarpAccess access;
    access.site = p.site;
    access.space = shapes_[p.site].space;
    access.kind = shapes_[p.site].kind;
    access.bytes = shapes_[p.site].bytes;
    access.block = p.block;
    access.warp = p.warp;
    access.issue = issue++;
    access.host_memory = host_memory && access.space == trace::Space::kGlobal;
    for (unsigned lane = 0; lane < kGroupLanes; ++lane)
      if (p.addresses[lane] != kInactive) access.mask |= GroupMask{1} << lane;
    access.addresses = p.addresses.data();
    // The engine tells lanes at a fixed distance from others.
    if (access.mask == kAllLanes) {
      const std::uint64_t stride = p.addresses[1] - p.addresses[0];
      bool affine = true;
      for (unsigned lane = 1; lane < kGroupLanes; ++lane) affine &= p.addresses[lane] - p.addresses[lane - 1] == stride;
      if (affine) {
        access.shape = stride == 0 ? trace::Shape::kUniform : trace::Shape::kAffine;
        access.base = p.addresses[0];
        access.stride = static_cast<std::int64_t>(stride);
      }
    }
    counts.access(access);
  }
  record.sites = counts.finish();
  record.frames.clear();
  if (instructions > 0) {
    views::FrameCounts frame;
    frame.frame = 0;
    frame.warp_instructions = instructions;
    frame.thread_instructions = 32 * instructions;
    record.frames.push_back(frame);
  }
  const std::shared_ptr<views::LaunchSamples> samples = counts.samples();
  for (views::WitnessBlock& block : samples->witnesses) {
    if (ordered_otherwise) block.barriers = {.known = false, .barriers = {}, .one_of = {}};
    for (views::BarrierUse& use : block.barriers.barriers)
      for (const views::BarrierUse& known : barriers_)
        if (known.op == use.op) use.frame = known.frame, use.repeats = known.repeats;
  }
  record.samples = samples;
  views::ProcessRecord process;
  process.pid = 1;
  process.argv = {"./test"};
  process.kernels = {kernel};
  process.launches = {record};
  process.transfers = transfers;
  report::Report report = report::build_report({process}, arch::find_gpu(gpu), {});
  advise(report);
  return report;
}

const report::AdviceReport* find(const report::Report& report, const std::string& code) {
  for (const report::LaunchReport& launch : report.launches)
    for (const report::AdviceReport& advice : launch.advice)
      if (advice.code == code) return &advice;
  return nullptr;
}

}  // namespace muscope::advice::testing
