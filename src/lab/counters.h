// What the kernels of rows counted: by muscope on a CPU, and by Nsight Compute on a GPU. Both ran the program in its
// mode `count`, in which each row's call happens once, in order; kernels of the lab's own (namespace lab) are left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::lab {

/// Sums over the launches of one row.
struct Counters {
  double global_requests = 0, global_sectors = 0;  ///< loads, stores, reductions and atomics
  double shared_wavefronts = 0;                    ///< loads, stores and atomics
  double local_sectors = 0;                        ///< spills and arrays
  double instructions = 0;                         ///< per warp

  void add(const Counters& other);
  bool operator==(const Counters&) const = default;
};

/// One entry per launch of a kernel that is not the lab's own. From `muscope run --json`; throws Error D701 to D703.
std::vector<Counters> counters_of_report(std::string_view text, const std::string& name);

/// The same from `ncu --csv --page raw`; throws Error D740 to D742.
std::vector<Counters> counters_of_capture(std::string_view text, const std::string& name);

/// Launches of rows, in order: `launches` per row. Nothing for all rows when the numbers of launches differ: then some
/// kernel was not counted, and no row can be sure of its own.
std::vector<std::optional<Counters>> counters_of_rows(const std::vector<Counters>& launches,
                                                      const std::vector<int>& launches_per_row);

/// The metrics to ask Nsight Compute for, joined by commas.
std::string counter_metrics();

}  // namespace muscope::lab
