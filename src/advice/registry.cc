// The list of rules, and asking them all.
#include <algorithm>

#include "advice/advice.h"
#include "advice/context.h"
#include "advice/order.h"
#include "advice/rules.h"

namespace muscope::advice {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"A101", "neighbouring lanes are a stride apart", find_strided},
      {"A102", "thread indices are swapped", find_swapped},
      {"A103", "warps start inside sectors", find_misaligned},
      {"A104", "the data of a block is dense, that of its warps is not", find_shared_tile},
      {"A105", "narrow accesses side by side", find_vectorisable},
      {"A106", "a block loads the same data again", find_redundant_loads},
      {"A107", "thin blocks", find_thin_blocks},
      {"A108", "loads that could take the read-only path", find_read_only_path},
      {"A109", "lanes that gather", find_gathers},
      {"A110", "one array, several widths", find_mixed_widths},
      {"A111", "few bytes in flight", find_few_bytes_in_flight},
      {"A112", "branches of a warp touch the same sectors apart", find_split_by_branches},
      {"A201", "shared-memory bank conflicts", find_bank_conflicts},
      {"A202", "shared memory that is not shared", find_private_shared},
      {"A203", "needless barriers", find_needless_barriers},
      {"A301", "lanes read different constants", find_divergent_constant},
      {"A302", "uniform reads of global memory", find_uniform_global},
      {"A303", "arrays in local memory", find_local_arrays},
      {"A304", "register spills", find_spills},
      {"A401", "low occupancy", find_low_occupancy},
      {"A402", "idle lanes and SMs", find_idle_sms},
      {"A501", "atomics meet at few addresses", find_atomic_contention},
      {"A601", "copies of pageable memory", nullptr, find_pageable_copies},
      {"A602", "kernels read host memory over the bus", find_zero_copy},
      {"A603", "first touch of managed memory", find_first_touch},
      {"A604", "symbols rewritten between launches", nullptr, find_rewritten_symbols},
  };
  return all;
}

void advise(report::Report& report) {
  for (report::LaunchReport& launch : report.launches) {
    launch.advice.clear();
    if (launch.state != views::LaunchState::kFinished) continue;
    const Context context(report, launch);
    std::vector<report::AdviceReport> found;
    for (const Rule& rule : rules()) {
      if (rule.find == nullptr) continue;
      const std::size_t before = found.size();
      rule.find(context, found);
      for (std::size_t i = before; i < found.size(); ++i) {
        found[i].code = rule.code;
        found[i].title = rule.title;
      }
    }
    put_in_order(context, found);
    launch.advice = std::move(found);
  }
  // What is about a whole process stands with its last launch, where a run's copies end.
  for (std::size_t process = 0; process < report.processes.size(); ++process) {
    const auto last = std::find_if(report.launches.rbegin(), report.launches.rend(),
                                   [&](const report::LaunchReport& launch) { return launch.process == process; });
    if (last == report.launches.rend()) continue;
    for (const Rule& rule : rules()) {
      if (rule.find_in_run == nullptr) continue;
      const std::size_t before = last->advice.size();
      rule.find_in_run(report, process, last->advice);
      for (std::size_t i = before; i < last->advice.size(); ++i) {
        last->advice[i].code = rule.code;
        last->advice[i].title = rule.title;
      }
    }
  }
}

}  // namespace muscope::advice
