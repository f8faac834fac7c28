#include "instructions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace muscope::counters {
namespace {

using nlohmann::json;

const std::string kTable = MUSCOPE_SOURCE_DIR "/tests/counters/suite/suite_sass_h200.csv";

constexpr std::string_view kOfAll[] = {"executed", "lanes_on"};
constexpr std::string_view kOfGlobal[] = {"tag_requests", "sectors", "ideal_sectors", "excessive_sectors"};
constexpr std::string_view kOfShared[] = {"n_way"};

/// "@!P0  STS [R5], R2" and "@!P0 STS [R5], R2" -> "STS": opcodes are the same, texts are spelled in two ways.
std::string opcode_of(const std::string& text) {
  std::size_t begin = 0;
  if (text.starts_with('@')) begin = text.find_first_not_of(' ', text.find(' '));
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_first_of(" .", begin) - begin);
}

struct Instruction {
  std::string opcode;
  Values values;
};

using Instructions = std::map<std::uint64_t, Instruction>;  // by pc

/// Sites of one launch. One instruction may have several, one for each space that it reached.
Instructions instructions_of(const json& launch) {
  Instructions found;
  std::map<std::uint64_t, double> wavefronts;
  for (const json& line : launch["lines"]) {
    for (const json& site : line["sites"]) {
      if (!site.contains("pc")) continue;
      const auto pc = site["pc"].get<std::uint64_t>();
      Instruction& one = found[pc];
      one.opcode = opcode_of(site["instruction"].get<std::string>());
      const auto add = [&](const char* column, const char* field) {
        one.values[column] += site[field].get<double>();
      };
      add("executed", "executed");
      add("lanes_on", "lanes");
      if (site["space"] == "global") {
        add("tag_requests", "lines");
        add("sectors", "distinct_sectors");
        add("ideal_sectors", "ideal_sectors");
      }
      if (site["space"] == "shared") wavefronts[pc] += site["sass_wavefronts"].get<double>();
    }
  }
  for (auto& [pc, one] : found) {
    one.values["excessive_sectors"] = value_of(one.values, "sectors") - value_of(one.values, "ideal_sectors");
    const double executed = value_of(one.values, "executed");
    if (wavefronts.contains(pc) && executed > 0) one.values["n_way"] = std::floor(wavefronts[pc] / executed);
  }
  return found;
}

/// The metric that carries the cost of a site of the kind, as the report names it.
std::string cost_metric(const std::string& space, const std::string& kind) {
  static const std::map<std::string, std::string> kOps = {
      {"load", "ld"}, {"store", "st"}, {"red", "red"}, {"atom", "atom"}};
  const auto op = kOps.find(kind);
  const std::string name = op == kOps.end() ? "ld" : op->second;
  if (space == "global") return "l1tex__t_sectors_pipe_lsu_mem_global_op_" + name + ".sum";
  if (space == "local") return "l1tex__t_sectors_pipe_lsu_mem_local_op_" + name + ".sum";
  if (space == "texture") return "l1tex__t_requests_pipe_tex_mem_texture.sum";
  if (space == "const") return "idc__requests.sum";
  if (name == "red" || name == "atom") return "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum";
  return "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_" + name + ".sum";
}

}  // namespace

GroupResult compare_instructions(const GroupResult& suite) {
  GroupResult result{Comparison("suite, instructions (machine code)"), {}, {}};
  std::ifstream in(kTable);
  std::string text;
  if (!std::getline(in, text)) throw std::runtime_error("cannot read " + kTable);
  const std::vector<std::string> header = csv_cells(text);
  const json& launches = suite.runs.at(0).report["launches"];
  std::vector<Instructions> ours;
  for (const json& launch : launches) ours.push_back(instructions_of(launch));

  while (std::getline(in, text)) {
    const std::vector<std::string> cells = csv_cells(text);
    if (cells.size() != header.size()) throw std::runtime_error(kTable + ": " + text);
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) row[header[i]] = cells[i];
    const std::size_t launch = std::stoul(row["launch"]);
    const std::uint64_t pc = std::stoull(row["pc"], nullptr, 16);
    Launch hardware{row["label"] + " " + row["pc"] + " " + row["sass"], {}, {}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (header[i] != "launch" && header[i] != "label" && header[i] != "pc" && header[i] != "sass" &&
          header[i] != "space" && header[i] != "operation")
        hardware.values[header[i]] = std::strtod(cells[i].c_str(), nullptr);
    }
    if (launch >= ours.size()) {
      result.problem += "launch " + row["launch"] + " is missing\n";
      continue;
    }
    Instruction one;
    if (const auto found = ours[launch].find(pc); found != ours[launch].end()) {
      one = found->second;
      ours[launch].erase(found);
      if (one.opcode != opcode_of(row["sass"])) result.problem += hardware.label + ": here it is " + one.opcode + "\n";
    }
    result.comparison.compare(one.values, hardware, kOfAll);
    if (row["space"] == "Global") result.comparison.compare(one.values, hardware, kOfGlobal);
    if (row["space"] == "Shared") result.comparison.compare(one.values, hardware, kOfShared);
  }
  for (std::size_t launch = 0; launch < ours.size(); ++launch)
    for (const auto& [pc, one] : ours[launch])
      result.problem += "launch " + std::to_string(launch) + ": hardware has no " + one.opcode + " at " +
                        std::to_string(pc) + "\n";
  return result;
}

double GradeShares::inexact_percent() const {
  return all() == 0 ? 0 : 100 * static_cast<double>(modelled + estimated) / static_cast<double>(all());
}

GradeShares& GradeShares::operator+=(const GradeShares& other) {
  counted += other.counted;
  modelled += other.modelled;
  estimated += other.estimated;
  lines += other.lines;
  inexact_lines += other.inexact_lines;
  for (const auto& [reason, executed] : other.reasons) reasons[reason] += executed;
  return *this;
}

GradeShares grade_shares(std::span<const Reported> runs) {
  static constexpr std::array<std::string_view, 3> kGrades = {"counted", "modelled", "estimated"};
  GradeShares shares;
  std::uint64_t* const sums[] = {&shares.counted, &shares.modelled, &shares.estimated};
  for (const Reported& run : runs) {
    for (const json& launch : run.report["launches"]) {
      const std::string stream = launch["counted_from"]["grade"];
      for (const json& line : launch["lines"]) {
        bool inexact = false;
        for (const json& site : line["sites"]) {
          std::string grade = stream, reason = launch["counted_from"].value("problem", "");
          const auto metric = line["metrics"].find(cost_metric(site["space"], site["kind"]));
          const auto rank = [&](const std::string& name) {
            return std::find(kGrades.begin(), kGrades.end(), name) - kGrades.begin();
          };
          if (metric == line["metrics"].end()) {
            if (site["requests"].get<std::uint64_t>() > 0) {
              grade = "estimated";
              reason = "the report has no number of it";
            }
          } else if (rank((*metric)["grade"]) > rank(grade)) {
            grade = (*metric)["grade"];
            reason = metric->value("reason", "");
          }
          const auto executed = site["executed"].get<std::uint64_t>();
          *sums[rank(grade)] += executed;
          if (grade != "counted") {
            inexact = true;
            shares.reasons[reason.empty() ? launch["counted_from"]["source"].get<std::string>() : reason] += executed;
          }
        }
        if (line["sites"].empty()) continue;
        ++shares.lines;
        shares.inexact_lines += inexact;
      }
    }
  }
  return shares;
}

}  // namespace muscope::counters
