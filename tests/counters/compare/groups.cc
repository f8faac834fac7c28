// The three groups of launches that an H200 has counted: the suite, one-instruction patterns, the examples.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "counters.h"

namespace muscope::counters {
namespace {

const std::string kFolder = MUSCOPE_SOURCE_DIR "/tests/counters/";

constexpr std::string_view kCounted[] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_atom.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "smsp__inst_executed_op_global_red.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "smsp__inst_executed_op_shared_atom.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__t_requests_pipe_tex_mem_texture.sum",
    "smsp__inst_executed_op_texture.sum",
};

// What only machine code decides.
constexpr std::string_view kMachineOnly[] = {
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_ldc.sum",
    "idc__requests.sum",
};

constexpr std::string_view kLaunch[] = {
    "launch__registers_per_thread",          "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",     "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",         "launch__occupancy_limit_barriers",
    "sm__maximum_warps_per_active_cycle_pct",
};

// In an isolated warp the data stage has no arbitration noise, so that its own counters can be compared too.
constexpr std::string_view kIsolatedShared[] = {
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
};
constexpr std::string_view kConstantRequests[] = {"idc__requests.sum"};

void add_problem(std::string& problem, const std::string& text) { problem += text + "\n"; }

/// Pairs the launches of a report with those that hardware counted, in order.
void pair_up(GroupResult& result, const std::string& program, const Reported& ours, std::span<const Launch> hardware,
             Code code) {
  if (ours.launches.size() != hardware.size()) {
    add_problem(result.problem, program + ": " + std::to_string(ours.launches.size()) + " launches reported, " +
                                    std::to_string(hardware.size()) + " on hardware\n" + ours.out + ours.err);
    return;
  }
  for (std::size_t i = 0; i < hardware.size(); ++i) {
    if (ours.indices[i] != static_cast<int>(i))
      add_problem(result.problem, program + ": launch " + std::to_string(i) + " has index " + ours.launches[i].label);
    // ncu leaves namespaces out.
    if (!ours.launches[i].kernel.ends_with(hardware[i].kernel))
      add_problem(result.problem, program + ": launch " + std::to_string(i) + " is " + ours.launches[i].kernel +
                                      ", on hardware " + hardware[i].kernel);
    result.comparison.compare(ours.launches[i].values, hardware[i], kCounted);
    if (code == Code::kMachine) result.comparison.compare(ours.launches[i].values, hardware[i], kMachineOnly);
    if (value_of(hardware[i].values, "launch__registers_per_thread") > 0)
      result.comparison.compare(ours.launches[i].values, hardware[i], kLaunch);
  }
}

struct PatternRow {
  std::string space, op, bytes, pattern, key;
  Launch hardware;
};

/// Rows of patterns.tsv by what the program writes about a launch into its manifest.
std::map<std::string, PatternRow> read_patterns() {
  std::map<std::string, PatternRow> rows;
  std::ifstream in(kFolder + "patterns.tsv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream cut(line);
    std::string cells[7];
    for (std::string& cell : cells) std::getline(cut, cell, '\t');
    PatternRow row{cells[0], cells[1], cells[2], cells[3], {}, {}};
    // Local patterns are whole kernels: no offsets.
    row.key = cells[0] == "local" ? cells[3] : cells[0] + cells[1] + cells[2] + cells[3] + cells[4] + cells[5];
    row.hardware.label = cells[0] + " " + cells[1] + " " + cells[2] + " " + cells[3];
    const nlohmann::json counters = nlohmann::json::parse(cells[6]);
    for (const auto& [name, value] : counters.items()) row.hardware.values[name + ".sum"] = value.get<double>();
    rows[row.key] = std::move(row);
  }
  return rows;
}

/// Metrics of one pattern. Those that read zero are not in the file: an absent one counts as zero where it was collected.
void compare_pattern(GroupResult& result, Values ours, PatternRow row) {
  const auto collected = [&](std::span<const std::string_view> names) {
    for (const std::string_view name : names) row.hardware.values.try_emplace(std::string(name), 0);
    result.comparison.compare(ours, row.hardware, names);
  };
  const bool merge = row.pattern.find("merge") != row.pattern.npos;
  if (row.space == "const") {
    // Two requests of each launch are the kernel's own parameter loads (README.md); PTX has them as ld.param.
    ours["idc__requests.sum"] = value_of(ours, "muscope__constant_requests.sum") + 2;
    result.comparison.compare(ours, row.hardware, kConstantRequests);
  } else if (row.space == "shared") {
    // A 64-bit atomic is a loop of LDS.64 and ATOMS.CAST.SPIN.64 in machine code; PTX has one instruction. Only the
    // wavefronts of its atomics can be compared (they agree).
    if (row.op == "ATOM" && row.bytes == "8") return collected({&kIsolatedShared[4], 1});
    // Bank conflicts were not collected with the merge patterns.
    for (const std::string_view& name : kIsolatedShared)
      if (!merge || name.find("bank_conflicts") == name.npos) collected({&name, 1});
  } else {
    for (const std::string_view& name : kCounted) {
      if (name.find("mem_" + row.space) == name.npos || name.starts_with("smsp")) continue;
      // Of atomics, only sectors were collected with the merge patterns.
      const bool atomic = name.ends_with("red.sum") || name.ends_with("atom.sum");
      if (merge && atomic && name.find("t_sectors") == name.npos) continue;
      collected({&name, 1});
    }
  }
}

}  // namespace

std::span<const std::string_view> counted_metrics() { return kCounted; }
std::span<const std::string_view> launch_metrics() { return kLaunch; }

std::vector<std::string> options_for(Code code) {
  if (code == Code::kPtx) return {};
  return {"--count-from", "sass"};
}

std::string group_name(const std::string& name, Code code) {
  return code == Code::kPtx ? name : name + " (machine code)";
}

GroupResult run_suite(const std::string& work, Code code) {
  GroupResult result{Comparison(group_name("suite", code)), {}, {}};
  const std::vector<Launch> hardware = read_csv(kFolder + "suite/suite_h200.csv", "label", "kernel");
  result.runs.push_back(run_program(options_for(code), kFolder + "suite/suite", {"manifest", "1024"}, work,
                                     code == Code::kMachine));
  pair_up(result, "suite", result.runs.back(), hardware, code);
  return result;
}

namespace {

/// Programs of a folder against a table whose first column names the program of each launch.
GroupResult run_table(const std::string& name, const std::string& table, const std::string& column,
                      const std::string& programs, const std::string& work, Code code) {
  GroupResult result{Comparison(group_name(name, code)), {}, {}};
  std::vector<Launch> hardware = read_csv(kFolder + table, column, "Kernel Name");
  for (std::size_t begin = 0; begin < hardware.size();) {
    const std::string program = hardware[begin].label;
    std::size_t end = begin;
    for (; end < hardware.size() && hardware[end].label == program; ++end)
      hardware[end].label += " " + std::to_string(end - begin) + " " + hardware[end].kernel;
    result.runs.push_back(run_program(options_for(code), kFolder + programs + program, {}, work, code == Code::kMachine));
    pair_up(result, program, result.runs.back(), std::span(hardware).subspan(begin, end - begin), code);
    begin = end;
  }
  return result;
}

}  // namespace

GroupResult run_examples(const std::string& work, Code code) {
  return run_table("examples", "examples/examples_h200.csv", "Example", "examples/programs/", work, code);
}

GroupResult run_kernels(const std::string& work, Code code) {
  return run_table("kernels", "kernels/kernels_h200.csv", "Program", "kernels/programs/", work, code);
}

GroupResult run_patterns(const std::string& work, int* rows) {
  GroupResult result{Comparison("patterns"), {}, {}};
  std::map<std::string, PatternRow> patterns = read_patterns();
  // The two runs that patterns.tsv was captured from: structured and random offsets; merging inside wide accesses.
  const std::vector<std::string> runs[] = {{"1", "1", "10", "manifest"}, {"5", "2", "20", "manifest"}};
  *rows = 0;
  for (const auto& args : runs) {
    const Reported ours = run_program({}, kFolder + "suite/patterns", args, work);
    std::ifstream manifest(work + "/manifest");
    std::size_t launch = 0;
    for (std::string line; std::getline(manifest, line); ++launch) {
      if (launch >= ours.launches.size()) break;
      std::stringstream cut(line);
      std::string cells[7];
      for (std::string& cell : cells) std::getline(cut, cell, '\t');
      const std::string key =
          cells[1] == "local" ? cells[4] : cells[1] + cells[2] + cells[3] + cells[4] + cells[5] + cells[6];
      const auto found = patterns.find(key);
      if (found == patterns.end()) continue;  // one- and two-byte loads were captured with one run only
      compare_pattern(result, ours.launches[launch].values, found->second);
      patterns.erase(found);
      ++*rows;
    }
    if (launch == 0 || launch != ours.launches.size())
      add_problem(result.problem, "patterns: " + std::to_string(ours.launches.size()) + " launches reported, " +
                                      std::to_string(launch) + " made\n" + ours.out + ours.err);
  }
  return result;
}

}  // namespace muscope::counters
