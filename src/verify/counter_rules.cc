#include "verify/counter_rules.h"

#include "report/metrics.h"

namespace muscope::verify {
namespace {

using enum CounterKind;

constexpr std::string_view kArbitration =
    "several clients arbitrate for the data stage, and the raw counter holds that";
constexpr std::string_view kSets = "which lines share a set is known for certain up to address bit 20 only";
constexpr std::string_view kAtomics =
    "H200: exact in 1,320 + 276 launches of one warp (tests/counters/experiments/atomic_sectors.tsv, patterns.tsv) and "
    "in the suite";
constexpr std::string_view kCaches = "depends on what the caches hold";
constexpr std::string_view kTime = "depends on time, clocks and other work";

// H200: one-warp probes of tests/counters/patterns.tsv, the kernels of tests/counters/suite and
// tests/counters/examples.
constexpr CounterRule kRules[] = {
    // Time and rates first: their base names are those of counters.
    {"*.per_second", kState, 0, 0, 0, "", kTime, ""},
    {"*.pct_of_peak_*", kState, 0, 0, 0, "", kTime, ""},
    {"*.per_cycle_*", kState, 0, 0, 0, "", kTime, ""},

    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", kNoisy, 0.06, 0.06, 0, "memory_l1_wavefronts_shared",
     kArbitration, "suite, H200: 2,321 conflicts where addresses make none, of 45,056 wavefronts (5.2 %, convTiled)"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*", kNoisy, 0.06, 0.06, 0,
     "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*", kArbitration,
     "suite, H200: 2,321 conflicts where addresses make none, of 45,056 wavefronts (5.2 %, convTiled)"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*", kNoisy, 0, 0.06, 0, "", kArbitration,
     "suite, H200: 47,327 for 45,056 (5.0 %) and 611,554 for 589,824 (3.7 %, convTiled)"},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum", kNoisy, 0.002, 0.002, 0, "", kSets,
     "suite, H200: 0.003 % above (aos3), 0.16 % above under load (copyCol)"},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum", kNoisy, 0.002, 0.002, 0, "", kSets,
     "suite, H200: 0.003 % above (aos3), 0.16 % above under load (copyCol)"},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts*", kNoisy, 0.002, 0.002, 0, "", kSets,
     "tests/counters/experiments/async_copies.tsv, H200: exact in 501 of 501 launches of one warp"},
    {"l1tex__t_set_*", kNoisy, 0.002, 0.002, 0, "", kSets,
     "tests/counters/experiments/async_copies.tsv, H200: exact in 501 of 501 launches of one warp"},
    {"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_*", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_red.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_atom.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_red.ratio", kNoisy, 0.002, 0.002, 0, "", kSets,
     kAtomics},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_atom.ratio", kNoisy, 0.002, 0.002, 0, "", kSets,
     kAtomics},

    // Software counts of atomics are taken from the same splitting.
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_red.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_atom.sum", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_red.*", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_atom.*", kNoisy, 0.002, 0.002, 0, "", kSets, kAtomics},

    {"*_lookup_hit*", kState, 0, 0, 0, "", kCaches, ""},
    {"*_lookup_miss*", kState, 0, 0, 0, "", kCaches, ""},
    {"*_hit_rate*", kState, 0, 0, 0, "", kCaches, ""},

    {"smsp__inst_executed*", kAddresses, 0, 0, 0, "", "", "suite and examples, H200: repeats from run to run"},
    {"smsp__thread_inst_executed*", kAddresses, 0, 0, 0, "", "", "suite and examples, H200: repeats from run to run"},
    {"smsp__sass_*", kAddresses, 0, 0, 0, "", "", "counted by instrumented code; suite, H200: repeats from run to run"},
    {"sm__sass_*", kAddresses, 0, 0, 0, "", "", "counted by instrumented code"},
    {"smsp__warps_launched*", kAddresses, 0, 0, 0, "", "", "an attribute of the launch"},
    {"sm__maximum_warps_*", kAddresses, 0, 0, 0, "", "", "an attribute of the launch"},
    {"launch__*", kAddresses, 0, 0, 0, "", "", "an attribute of the launch"},
    {"l1tex__t_requests_*", kAddresses, 0, 0, 0, "", "", "probes, suite and examples, H200: exact"},
    {"l1tex__t_sectors_*", kAddresses, 0, 0, 0, "", "", "probes, suite and examples, H200: exact"},
    {"l1tex__t_bytes_*", kAddresses, 0, 0, 0, "", "", "32 bytes for each sector"},
    {"l1tex__average_t_sectors_per_request_*", kAddresses, 0, 0, 0, "", "", "a quotient of the two"},
    {"memory_*", kAddresses, 0, 0, 0, "", "", "counted by instrumented code; suite, H200: exact"},
    {"derived__memory_*", kAddresses, 0, 0, 0, "", "", "counted by instrumented code; suite, H200: exact"},
    {"idc__requests.sum", kAddresses, 0, 0, 0, "", "", "probes, H200: 49 of 49"},
};

constexpr CounterRule kUnknown = {"*", kState, 0, 0, 0, "", "nothing is known about how this counter repeats", ""};

}  // namespace

std::string_view name_of(CounterKind kind) {
  switch (kind) {
    case kAddresses:
      return "addresses";
    case kNoisy:
      return "noisy";
    case kState:
      break;
  }
  return "state";
}

std::span<const CounterRule> counter_rules() { return kRules; }

const CounterRule& rule_of(std::string_view metric) {
  for (const CounterRule& rule : kRules)
    if (report::glob_matches(rule.pattern, metric)) return rule;
  return kUnknown;
}

std::string share_metric(const CounterRule& rule, std::string_view metric) {
  if (rule.share_of.empty()) return std::string(metric);
  std::string name(rule.share_of);
  const std::size_t star = name.find('*'), from = rule.pattern.find('*');
  if (star != std::string::npos && from != std::string_view::npos)
    name.replace(star, 1, metric.substr(std::min(from, metric.size())));
  return name;
}

}  // namespace muscope::verify
