// A launch made by hand for the tests of rules: warps access memory through the recorder that the engine uses, and the
// report is built as `muscope run` builds it.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "advice/advice.h"
#include "arch/gpu_spec.h"
#include "views/access_counts.h"

namespace muscope::advice::testing {

/// The addresses of one warp; ~0 marks an inactive lane.
using WarpAddresses = std::array<std::uint64_t, kGroupLanes>;
inline constexpr std::uint64_t kInactive = ~std::uint64_t{0};

inline constexpr std::uint64_t kGlobalBase = 0x7f0000000000;

class TestLaunch {
 public:
  TestLaunch(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block);

  /// A memory instruction at a line of "test.cu"; returns its number.
  std::uint32_t site(trace::Space space, trace::Kind kind, std::uint8_t bytes, int line, std::string text = "ld");
  /// Every warp of every block executes `site` once, at address(thread in x, y, block in x, y).
  using Index = std::function<std::uint64_t(std::uint64_t tx, std::uint64_t ty, std::uint64_t bx, std::uint64_t by)>;
  void run(std::uint32_t site, const Index& address);
  /// The same for one warp alone.
  void warp(std::uint32_t site, std::uint64_t block, std::uint32_t warp, const WarpAddresses& addresses);

  /// __syncthreads() at a line, by every block; after what was run before.
  void barrier(int line, bool in_loop = false);
  /// What orders warps in other ways is in the kernel too.
  bool ordered_otherwise = false;

  std::string gpu = "h200";
  std::uint64_t instructions = 0;  ///< executed by warps
  bool host_memory = false;        ///< global memory is host memory
  views::KernelInfo kernel;
  views::LaunchRecord record;
  std::vector<views::TransferRecord> transfers;

  /// The report with its advice.
  report::Report report();

 private:
  struct SiteShape {
    trace::Space space;
    trace::Kind kind;
    std::uint8_t bytes;
  };
  std::vector<SiteShape> shapes_;
  struct Pending {
    std::uint32_t site;
    std::uint64_t block;
    std::uint32_t warp;
    WarpAddresses addresses;
    int barrier = -1;  ///< index into barriers_, of this block; no access then
  };
  std::vector<Pending> accesses_;
  std::vector<views::BarrierUse> barriers_;
};

/// The advice with this code; the first of several. Null when there is none.
const report::AdviceReport* find(const report::Report& report, const std::string& code);

}  // namespace muscope::advice::testing
