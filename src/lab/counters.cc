#include "lab/counters.h"

#include <cstddef>

#include "report/json.h"
#include "verify/capture.h"

namespace muscope::lab {
namespace {

struct Source {
  std::string_view metric;
  double Counters::* into;
};

constexpr Source kSources[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", &Counters::global_requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", &Counters::global_requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", &Counters::global_requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", &Counters::global_requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", &Counters::global_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", &Counters::global_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", &Counters::global_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", &Counters::global_sectors},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &Counters::shared_wavefronts},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &Counters::shared_wavefronts},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", &Counters::shared_wavefronts},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", &Counters::local_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", &Counters::local_sectors},
    {"smsp__inst_executed.sum", &Counters::instructions},
};

/// Helpers of lab/lab.cuh; Nsight Compute leaves out the inner namespace of lab::internal.
bool is_the_labs_own(std::string_view kernel) {
  constexpr std::string_view kVoid = "void ";
  if (kernel.starts_with(kVoid)) kernel.remove_prefix(kVoid.size());
  return kernel.starts_with("lab::");
}

}  // namespace

void Counters::add(const Counters& other) {
  global_requests += other.global_requests, global_sectors += other.global_sectors;
  shared_wavefronts += other.shared_wavefronts, local_sectors += other.local_sectors;
  instructions += other.instructions;
}

std::vector<Counters> counters_of_report(std::string_view text, const std::string& name) {
  const report::Report report = report::from_json(text, name);
  std::vector<Counters> all;
  for (const report::LaunchReport& launch : report.launches) {
    if (is_the_labs_own(launch.kernel)) continue;
    Counters counters;
    for (const Source& source : kSources) {
      const auto metric = launch.metrics.find(source.metric);
      if (metric != launch.metrics.end()) counters.*source.into += metric->second.as_double();
    }
    all.push_back(counters);
  }
  return all;
}

std::vector<Counters> counters_of_capture(std::string_view text, const std::string& name) {
  const verify::Capture capture = verify::read_capture(text, name, [](std::string_view metric) {
    for (const Source& source : kSources) {
      if (source.metric == metric) return true;
    }
    return false;
  });
  std::vector<Counters> all;
  for (const verify::CaptureLaunch& launch : capture.launches) {
    if (is_the_labs_own(launch.kernel)) continue;
    Counters counters;
    for (const verify::CaptureValue& value : launch.values) {
      for (const Source& source : kSources) {
        if (source.metric == capture.metrics[value.metric]) counters.*source.into += value.value;
      }
    }
    all.push_back(counters);
  }
  return all;
}

std::vector<std::optional<Counters>> counters_of_rows(const std::vector<Counters>& launches,
                                                      const std::vector<int>& launches_per_row) {
  std::vector<std::optional<Counters>> rows(launches_per_row.size());
  std::size_t expected = 0;
  for (const int count : launches_per_row) expected += static_cast<std::size_t>(count > 0 ? count : 0);
  if (expected != launches.size()) return rows;
  std::size_t at = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (launches_per_row[i] <= 0) continue;
    rows[i].emplace();
    for (int k = 0; k < launches_per_row[i]; ++k) rows[i]->add(launches[at++]);
  }
  return rows;
}

std::string counter_metrics() {
  std::string all;
  for (const Source& source : kSources) all += (all.empty() ? "" : ",") + std::string(source.metric);
  return all;
}

}  // namespace muscope::lab
