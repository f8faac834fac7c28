// One launch: heading, tables per memory, occupancy, instruction mix.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/cause.h"
#include "report/counts.h"
#include "report/kernel_name.h"
#include "report/metric_formulas.h"
#include "report/number_format.h"
#include "report/text_parts.h"

namespace muscope::report {
namespace {

using formulas::in;
using formulas::kAsyncCopies;
using formulas::kAtomics;
using trace::Kind;
using trace::Space;

constexpr double kWorthRemarking = 0.02;  ///< share of waste below which a row has no remark

const Metric* find(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  if (extent[2] > 1) return fmt::format("{}x{}x{}", extent[0], extent[1], extent[2]);
  if (extent[1] > 1) return fmt::format("{}x{}", extent[0], extent[1]);
  return std::to_string(extent[0]);
}

std::string ratio_text(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? "-" : grouped(static_cast<double>(sum) / static_cast<double>(count), 2);
}

std::string percent_text(double share) { return fmt::format("{} %", grouped(100 * share, 1)); }

/// "3 of 4" where the share is close to such a fraction, else "42.1 % of".
std::string fraction_text(double share) {
  for (int whole = 2; whole <= 32; ++whole) {
    const double parts = share * whole;
    if (std::fabs(parts - std::round(parts)) < 0.004 && std::round(parts) >= 1 && std::round(parts) < whole &&
        (whole <= 10 || std::round(parts) == whole - 1))
      return fmt::format("{:.0f} of {}", std::round(parts), whole);
  }
  return percent_text(share) + " of";
}

Counts counts_of(const LaunchReport& launch) {
  Counts counts;
  for (const LineReport& line : launch.lines)
    for (const SiteReport& site : line.sites) counts.add(site);
  return counts;
}

/// Collects the tables of one launch; they share columns.
class LaunchTables {
 public:
  explicit LaunchTables(const LaunchReport& launch) : launch_(launch), counts_(counts_of(launch)) {}

  Table build() {
    sectors();
    shared();
    constant();
    texture();
    surface();
    return std::move(table_);
  }

 private:
  struct Row {
    std::string_view label;
    AccessClass wanted;
    std::string_view metric;  ///< whose grade the row has
  };

  std::string mark(std::string_view metric) const {
    const Metric* found = find(launch_.metrics, metric);
    return found == nullptr ? std::string() : grade_mark(*found);
  }

  /// A heading that carries the grade of its first row; rows of another grade say so themselves.
  template <std::size_t kRows, typename Print>
  void block(std::string_view title, const Row (&rows)[kRows], std::vector<std::string> columns, Print print) {
    std::string grade;
    bool open = false;
    for (const Row& row : rows) {
      const AccessSums sums = counts_.of(row.wanted);
      if (sums.executed == 0) continue;
      const std::string own = mark(row.metric);
      if (!open) {
        grade = own;
        columns.insert(columns.begin(), fmt::format("{}{}", title, grade));
        table_.heading(columns);
        open = true;
      }
      print(fmt::format("{}{}", row.label, own == grade ? "" : own), sums);
    }
  }

  void sectors() {
    static constexpr Row kRows[] = {
        {"global load", in(Space::kGlobal, Kind::kLoad), "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
        {"global store", in(Space::kGlobal, Kind::kStore), "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
        {"global reduction", in(Space::kGlobal, Kind::kRed), "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"},
        {"global atomic", in(Space::kGlobal, Kind::kAtom), "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"},
        {"async copy", in(Space::kGlobal, kAsyncCopies),
         "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"},
        {"local load", in(Space::kLocal, Kind::kLoad), "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"},
        {"local store", in(Space::kLocal, Kind::kStore), "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"},
    };
    block("memory", kRows, {"requests", "sectors", "/request", "ideal", "efficiency"},
          [&](std::string label, const AccessSums& sums) {
            std::string remark;
            const double waste =
                sums.sectors == 0 ? 0 : static_cast<double>(sums.excess_sectors) / static_cast<double>(sums.sectors);
            if (waste >= kWorthRemarking && label.find("load") == std::string::npos &&
                label.find("store") == std::string::npos) {
              remark = fmt::format("<- {} where {} would do", average_text(sums.sectors, sums.requests),
                                   average_text(sums.ideal_sectors, sums.requests));
            } else if (waste >= kWorthRemarking) {
              remark = fmt::format("<- {} bytes wasted", fraction_text(waste));
            }
            const std::string efficiency =
                sums.sectors == 0
                    ? "-"
                    : percent_text(static_cast<double>(sums.bytes) / (32 * static_cast<double>(sums.sectors)));
            table_.row({std::move(label), grouped(sums.requests), grouped(sums.sectors),
                        ratio_text(sums.sectors, sums.requests), grouped(sums.ideal_sectors), efficiency},
                       std::move(remark));
          });
    const AccessSums global = counts_.of(in(Space::kGlobal));
    if (global.host_sectors > 0)
      table_.row({"zero-copy", "", grouped(global.host_sectors), "", "", ""}, "<- cross the bus");
  }

  void shared() {
    static constexpr Row kRows[] = {
        {"shared load", in(Space::kShared, Kind::kLoad),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
        {"shared store", in(Space::kShared, Kind::kStore),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
        {"matrix load", in(Space::kShared, Kind::kLoadMatrix),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"},
        {"matrix store", in(Space::kShared, Kind::kStoreMatrix),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum"},
        {"async copy", in(Space::kShared, kAsyncCopies),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"},
        {"shared atomic", in(Space::kShared, kAtomics),
         "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"},
    };
    block("shared", kRows, {"requests", "wavefronts", "/request", "ideal", "conflicts"},
          [&](std::string label, const AccessSums& sums) {
            std::string remark;
            if (sums.ideal_wavefronts > 0 &&
                static_cast<double>(sums.conflicts) >= kWorthRemarking * static_cast<double>(sums.ideal_wavefronts)) {
              const double ways = static_cast<double>(sums.wavefronts) / static_cast<double>(sums.ideal_wavefronts);
              remark = fmt::format("<- {}-way bank conflicts",
                                   grouped(ways, std::fabs(ways - std::round(ways)) < 0.05 ? 0 : 1));
            }
            table_.row(
                {std::move(label), grouped(sums.requests), grouped(sums.wavefronts),
                 ratio_text(sums.wavefronts, sums.requests), grouped(sums.ideal_wavefronts), grouped(sums.conflicts)},
                std::move(remark));
          });
  }

  void constant() {
    static constexpr Row kRows[] = {{"constant load", in(Space::kConst), "muscope__constant_requests.sum"}};
    block("constant", kRows, {"loads", "requests", "/load", "ideal", "replays"},
          [&](std::string label, const AccessSums& sums) {
            table_.row({std::move(label), grouped(sums.executed), grouped(sums.requests),
                        ratio_text(sums.requests, sums.executed), grouped(sums.executed), grouped(sums.replays)},
                       static_cast<double>(sums.replays) >= kWorthRemarking * static_cast<double>(sums.executed)
                           ? "<- different words"
                           : "");
          });
  }

  void texture() {
    static constexpr Row kRows[] = {
        {"texture fetch", in(Space::kTexture), "l1tex__t_requests_pipe_tex_mem_texture.sum"}};
    block("texture", kRows, {"fetches", "requests", "/fetch"}, [&](std::string label, const AccessSums& sums) {
      table_.row(
          {std::move(label), grouped(sums.executed), grouped(sums.requests), ratio_text(sums.requests, sums.executed)});
    });
  }

  void surface() {
    static constexpr Row kRows[] = {
        {"surface load", in(Space::kSurface, Kind::kLoad), "l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum"},
        {"surface store", in(Space::kSurface, Kind::kStore), "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum"},
        {"surface reduction", in(Space::kSurface, Kind::kRed), "l1tex__t_sectors_pipe_tex_mem_surface_op_red.sum"},
    };
    block("surface", kRows, {"requests", "sectors", "/request", "ideal"},
          [&](std::string label, const AccessSums& sums) {
            table_.row({std::move(label), grouped(sums.requests), grouped(sums.sectors),
                        ratio_text(sums.sectors, sums.requests), grouped(sums.ideal_sectors)});
          });
  }

  const LaunchReport& launch_;
  Counts counts_;
  Table table_;
};

void print_occupancy(Page& page, const LaunchReport& launch) {
  const Metric* percent = find(launch.metrics, "sm__maximum_warps_per_active_cycle_pct");
  if (percent == nullptr) return;
  std::string text =
      fmt::format("{} %{}: {}, {} per SM", format_value(*percent), grade_mark(*percent),
                  counted_noun(count_of(launch.metrics, "muscope__blocks_per_multiprocessor"), "block", "blocks"),
                  counted_noun(count_of(launch.metrics, "sm__maximum_warps_avg_per_active_cycle"), "warp", "warps"));
  if (!launch.occupancy_limit.empty()) text += fmt::format(" (limit: {})", launch.occupancy_limit);
  if (const Metric* waves = find(launch.metrics, "launch__waves_per_multiprocessor"))
    text += fmt::format(", {} waves", format_value(*waves));
  page.paragraph("  occupancy     ", text, 16);
}

void print_mix(Page& page, const LaunchReport& launch, const arch::GpuSpec& gpu) {
  // Wider warps run as groups of 32 lanes, and instructions are counted for each group.
  const bool wide = gpu.warp_size.known && gpu.warp_size.as_int() > kGroupLanes;
  const Metric* all = find(launch.metrics, "smsp__inst_executed.sum");
  if (all == nullptr) return;
  std::string text =
      fmt::format("{} by {}{}", format_value(*all), wide ? "groups of 32 lanes" : "warps", grade_mark(*all));
  if (const Metric* lanes = find(launch.metrics, "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"))
    text += fmt::format(", {} of {} lanes at work", grouped(lanes->as_double(), 1), kGroupLanes);
  const auto threads = [&](std::string_view op) {
    return count_of(launch.metrics, fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", op));
  };
  const std::uint64_t moves = count_of(launch.metrics, "muscope__thread_inst_executed_op_half_move.sum");
  std::vector<std::pair<std::uint64_t, std::string_view>> shares = {
      {threads("fadd") + threads("fmul") + threads("ffma"), "fp32"},
      {threads("dadd") + threads("dmul") + threads("dfma"), "fp64"},
      {threads("hadd") + threads("hmul") + threads("hfma") - moves, "fp16"},
      {count_of(launch.metrics, "muscope__thread_inst_executed_op_other_float.sum"), "other float"},
      {threads("integer"), "integer"},
      {threads("bit"), "bits"},
      {threads("conversion"), "conversion"},
      {threads("control"), "control"},
      {threads("memory"), "memory"},
      {threads("inter_thread_communication"), "shuffles and barriers"},
      {threads("misc") + moves, "moves and other"},
  };
  std::uint64_t sum = 0;
  for (const auto& [count, name] : shares) sum += count;
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string_view separator = ": ";
  for (const auto& [count, name] : shares) {
    const double share = sum == 0 ? 0 : static_cast<double>(count) / static_cast<double>(sum);
    if (share < 0.01) break;
    text += fmt::format("{}{} {:.0f} %", separator, name, 100 * share);
    separator = ", ";
  }
  page.paragraph("  instructions  ", text, 16);
}

std::string launches_text(const LaunchGroup& group, const std::vector<LaunchReport>& launches) {
  const std::size_t all = launches.size();
  // Numbers are the program's: with --launches or --kernel some are not there.
  const bool complete = launches.back().index + 1 == all;
  if (all == 1 && complete) return "the only launch";
  const std::string count = fmt::format("({} {})", grouped(all), complete ? "in all" : "shown");
  if (group.launches.size() == 1) return fmt::format("launch #{} {}", group.first().index, count);
  return fmt::format("launch #{} and {} like it {}", group.first().index, grouped(group.launches.size() - 1), count);
}

/// ": ptxas"; "cubin sm_90 in the program" without what goes without saying.
std::string from(std::string_view source) {
  constexpr std::string_view kObvious = " in the program";
  if (source.ends_with(kObvious)) source.remove_suffix(kObvious.size());
  return source.empty() ? std::string() : fmt::format(": {}", source);
}

void print_heading(Page& page, const Report& report, const LaunchGroup& group) {
  const LaunchReport& launch = group.first();
  const std::string right = launches_text(group, report.launches);
  page.spread(shorten_kernel_name(launch.kernel, page.width() - right.size() - 2), Style::kBold, right, Style::kDim);
  std::string text = fmt::format("grid {}, block {}, {}", extent_text(launch.grid), extent_text(launch.block),
                                 counted_noun(count_of(launch.metrics, "launch__thread_count"), "thread", "threads"));
  if (const auto* registers = std::get_if<std::uint64_t>(&launch.registers.value); registers && *registers > 0) {
    // What the code needs, and what the driver sets aside where that is more.
    const std::uint64_t allocated = launch.registers.grade == Grade::kEstimated
                                        ? 0  // the least that a driver sets aside says nothing beside a guess
                                        : count_of(launch.metrics, "launch__registers_per_thread");
    text += fmt::format(", {}{} [{}{}]", counted_noun(*registers, "register", "registers"),
                        allocated > *registers ? fmt::format(" ({} allocated)", grouped(allocated)) : std::string(),
                        name_of(launch.registers.grade), from(launch.registers_source));
  }
  if (launch.static_shared + std::uint64_t{launch.dynamic_shared} > 0)
    text +=
        fmt::format(", {} shared per block", format_bytes(launch.static_shared + std::uint64_t{launch.dynamic_shared}));
  if (launch.stream != 0) text += fmt::format(", stream {}", launch.stream);
  if (launch.device != 0) text += fmt::format(", device {}", launch.device);
  page.paragraph("  ", text, 2);
  if (launch.state != views::LaunchState::kFinished) {
    const std::string_view end =
        launch.state == views::LaunchState::kFaulted ? "ended by a fault (see below)" : "was stopped (see below)";
    const std::string_view counts = launch.lines.empty() ? "nothing is counted, for which blocks ran is not determined"
                                                         : "counts are those of what ran until then";
    page.line("  " + page.styled(fmt::format("{}: {}", end, counts), Style::kRed));
  }
}

}  // namespace

std::uint64_t count_of(const Metrics& metrics, std::string_view name) {
  const Metric* metric = find(metrics, name);
  if (metric == nullptr) return 0;
  if (const auto* count = std::get_if<std::uint64_t>(&metric->value)) return *count;
  return 0;
}

std::uint64_t global_sectors_of(const Metrics& metrics) {
  std::uint64_t sum = 0;
  for (const std::string_view op : {"ld", "st", "red", "atom"})
    sum += count_of(metrics, fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", op));
  return sum;
}

std::uint64_t traffic_of(const Metrics& metrics) {
  return global_sectors_of(metrics) + count_of(metrics, "memory_l2_theoretical_sectors_local");
}

std::uint64_t global_waste_of(const Metrics& metrics) {
  const std::uint64_t sectors = global_sectors_of(metrics);
  return sectors - std::min(sectors, count_of(metrics, "memory_l2_theoretical_sectors_global_ideal"));
}

std::uint64_t waste_of(const Metrics& metrics) {
  return global_waste_of(metrics) + count_of(metrics, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum") +
         count_of(metrics, "muscope__constant_replays.sum");
}

std::uint64_t local_waste_of(const LaunchReport& launch) {
  std::uint64_t sum = 0;
  for (const LineReport& line : launch.lines)
    for (const SiteReport& site : line.sites)
      if (site.space == Space::kLocal) sum += site.local_use == views::LocalUse::kSpill ? site.sectors : waste_of(site);
  return sum;
}

const Metric* weakest_of_traffic(const Metrics& metrics) {
  const Metric* weakest = nullptr;
  for (const std::string_view name :
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "memory_l2_theoretical_sectors_local"}) {
    const Metric* metric = find(metrics, name);
    if (metric != nullptr && (weakest == nullptr || metric->grade > weakest->grade)) weakest = metric;
  }
  return weakest;
}

std::uint64_t requests_of(const Metrics& metrics) {
  std::uint64_t sum = count_of(metrics, "muscope__constant_requests.sum");
  for (const std::string_view op : {"ld", "st", "red", "atom"})
    sum += count_of(metrics, fmt::format("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", op)) +
           count_of(metrics, fmt::format("l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum", op)) +
           count_of(metrics, fmt::format("muscope__shared_requests_op_{}.sum", op));
  return sum;
}

std::string grade_mark(const Metric& metric, bool with_reason) {
  if (with_reason && !metric.reason.empty()) return fmt::format(" [{}: {}]", name_of(metric.grade), metric.reason);
  return fmt::format(" [{}]", name_of(metric.grade));
}

void print_launch(Page& page, const Report& report, const LaunchGroup& group, const TextOptions& options) {
  const LaunchReport& launch = group.first();
  page.line();
  print_heading(page, report, group);
  Table table = LaunchTables(launch).build();
  if (table.rows.empty() && launch.state == views::LaunchState::kFinished) page.line("  no memory access was executed");
  table.print(page, 2);
  print_occupancy(page, launch);
  print_mix(page, launch, report.gpu);
  if (const Metric* pages = find(launch.metrics, "muscope__managed_first_touch_pages.sum"))
    page.paragraph(
        "  managed       ",
        fmt::format("{} of 4 KiB first touched here after the host{}",
                    counted_noun(count_of(launch.metrics, "muscope__managed_first_touch_pages.sum"), "page", "pages"),
                    grade_mark(*pages)),
        16);
  print_spills(page, launch, options);
  if (options.instructions)
    print_instructions(page, launch), print_changes(page, launch, options);
  else
    print_lines(page, report, launch, options);
  print_advice(page, launch, options);
}

void print_metrics(Page& page, const Report& report, const LaunchGroup& group, const TextOptions& options) {
  page.line();
  print_heading(page, report, group);
  Table table;
  std::optional<Grade> grade;
  for (const MetricRow* row : options.metrics) {
    const Metric* metric = find(group.first().metrics, row->name);
    // A heading for each run of metrics of one grade: names leave little room.
    const Grade own = metric == nullptr ? group.first().stream_grade : metric->grade;
    if (grade != own) table.heading({fmt::format("[{}]", name_of(own)), "value", "unit"});
    grade = own;
    const bool zero = row->aggregation == Aggregation::kAdditive;
    table.row({std::string(row->name),
               metric != nullptr ? format_value(*metric)
               : zero            ? "0"
                                 : "-",
               std::string(row->unit)});
  }
  table.print(page, 2);
}

}  // namespace muscope::report
