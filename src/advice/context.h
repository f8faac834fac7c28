// Context: one launch as rules look at it: its sites with what was recorded of each, and the arrays they address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.h"
#include "report/report.h"
#include "views/samples.h"

namespace muscope::advice {

struct Site {
  const report::LineReport* line = nullptr;
  const report::SiteReport* counts = nullptr;
  const views::SiteSamples* samples = nullptr;  ///< null: nothing was recorded

  std::uint8_t bytes() const { return counts->lane_bytes; }
  bool is_store() const { return counts->kind == trace::Kind::kStore; }
  bool is_load() const { return counts->kind == trace::Kind::kLoad; }
  bool is_atomic() const { return counts->kind == trace::Kind::kAtom || counts->kind == trace::Kind::kRed; }
  /// Bytes asked for, of the bytes of the sectors; above 1 where lanes share bytes.
  double efficiency() const;
};

/// Sites whose addresses overlap, in one space: most likely one array (or several that lie side by side).
struct Array {
  trace::Space space = trace::Space::kGlobal;
  std::uint64_t low = 0, high = 0;  ///< bytes [low, high)
  std::vector<const Site*> sites;
  bool written() const;
  bool read() const;
};

class Context {
 public:
  Context(const report::Report& report, const report::LaunchReport& launch);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const report::Report& report() const { return report_; }
  const report::LaunchReport& launch() const { return launch_; }
  /// Empty where nothing was recorded.
  const views::LaunchSamples& samples() const;
  const arch::GpuSpec& gpu() const { return report_.gpu; }
  const std::vector<Site>& sites() const { return sites_; }
  std::vector<const Site*> sites_in(trace::Space space) const;
  const std::vector<Array>& arrays() const { return arrays_; }
  const Array* array_of(const Site& site) const;
  const Site* find(std::uint32_t site, trace::Space space) const;

  std::uint64_t threads_per_block() const;
  std::uint64_t blocks() const;
  unsigned warps_per_block() const { return static_cast<unsigned>((threads_per_block() + 31) / 32); }
  std::uint64_t count(std::string_view metric) const;  ///< 0 when absent
  double value(std::string_view metric) const;         ///< 0 when absent
  /// Warp instructions executed by the launch.
  std::uint64_t warp_instructions() const { return count("smsp__inst_executed.sum"); }

 private:
  const report::Report& report_;
  const report::LaunchReport& launch_;
  std::vector<Site> sites_;
  std::vector<Array> arrays_;
};

/// An advice about these sites of one line: position, sites and grade filled in.
report::AdviceReport advice_at(const Context& context, const std::vector<const Site*>& sites);

/// "4,096 B"
std::string bytes_text(std::uint64_t bytes);
/// "load", "store", "reduction", "atomic", ...
std::string_view verb_of(const Site& site);
/// "lines 12 and 14", "line 12"; empty without line information.
std::string lines_text(const std::vector<const Site*>& sites);

}  // namespace muscope::advice
