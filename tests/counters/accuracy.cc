// Writes the tables of docs/accuracy.md: what was compared with an H200, what is equal, and every difference with its
// reason.
//
//   accuracy                print the tables
//   accuracy --check FILE   exit with 1 when FILE does not hold them (between its two marks)
//   accuracy --write FILE   put them there
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>

#include "compare/counters.h"
#include "compare/instructions.h"
#include "compare/scratch_folder.h"

namespace muscope::counters {
namespace {

const std::string kBegin = "<!-- tables: build/release/tests/accuracy -->\n", kEnd = "<!-- end of tables -->\n";

std::string row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string tallies(const Comparison& comparison, const char* name = "metric", const char* unit = "launches") {
  std::string text = row({name, unit, "not zero", "equal"}) + "|---|---:|---:|---:|\n";
  for (const auto& [metric, tally] : comparison.tallies()) {
    if (tally.used == 0) continue;
    text += row({"`" + metric + "`", std::to_string(tally.compared), std::to_string(tally.used),
                 tally.equal == tally.used ? "**all**" : std::to_string(tally.equal)});
  }
  return text;
}

std::string differences(const KnownDifferences& known, std::span<const GroupResult> groups) {
  std::string text;
  for (const auto& [reason, meaning] : known.reasons) {
    std::string rows;
    for (const GroupResult& group : groups) {
      for (const Difference& d : group.comparison.differences()) {
        const KnownDifference* listed = known.find(d);
        if (listed && listed->reason == reason)
          rows += row({d.group + " " + d.launch, "`" + d.metric + "`", number(d.ours), number(d.hardware),
                       listed->detail});
      }
    }
    if (rows.empty()) continue;
    text += "\n#### " + reason + "\n\n" + meaning + "\n\n" +
            row({"launch", "metric", "muscope", "H200", "PTX; machine code"}) + "|---|---|---:|---:|---|\n" + rows;
  }
  return text;
}

/// How much of what machine code executes is not counted, and why.
std::string shares(std::span<const GroupResult> groups, std::span<const char* const> names) {
  std::string text = row({"programs", "memory instructions executed by warps", "counted", "modelled", "estimated",
                          "not counted", "lines not counted"}) +
                     "|---|---:|---:|---:|---:|---:|---:|\n";
  const auto percent = [](double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.2f %%", value);
    return std::string(digits);
  };
  GradeShares all;
  const auto add_row = [&](const std::string& name, const GradeShares& s) {
    text += row({name, std::to_string(s.all()), std::to_string(s.counted), std::to_string(s.modelled),
                 std::to_string(s.estimated), percent(s.inexact_percent()),
                 std::to_string(s.inexact_lines) + " of " + std::to_string(s.lines)});
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GradeShares one = grade_shares(groups[i].runs);
    all += one;
    add_row(names[i], one);
  }
  add_row("all", all);
  text += "\n" + row({"why not counted", "memory instructions executed by warps"}) + "|---|---:|\n";
  for (const auto& [reason, executed] : all.reasons) text += row({reason, std::to_string(executed)});
  return text;
}

std::string tables() {
  const ScratchFolder work;
  int rows = 0;
  GroupResult groups[] = {run_suite(work.path(), Code::kMachine), run_examples(work.path(), Code::kMachine),
                          run_kernels(work.path()),              run_patterns(work.path(), &rows),
                          run_suite(work.path()),                run_examples(work.path())};
  const char* titles[] = {"Machine code: the suite, 63 launches of 36 kernels",
                          "Machine code: the examples, 112 launches",
                          "Machine code: kernels of more kinds, 69 launches",
                          "PTX: one warp, one instruction, 1,998 patterns",
                          "PTX: the suite",
                          "PTX: the examples"};
  std::string text;
  for (std::size_t i = 0; i < std::size(groups); ++i) {
    if (!groups[i].problem.empty()) throw std::runtime_error(groups[i].problem);
    text += "### " + std::string(titles[i]) + "\n\n" + tallies(groups[i].comparison) + "\n";
    if (i > 0) continue;
    const GroupResult instructions = compare_instructions(groups[0]);
    if (!instructions.problem.empty()) throw std::runtime_error(instructions.problem);
    text += "### Machine code: the suite, instruction by instruction\n\n" +
            tallies(instructions.comparison, "of an instruction in a launch", "instructions") + "\n";
  }
  const char* names[] = {"the suite", "the examples", "kernels of more kinds"};
  text += "### Machine code: how much is not counted\n\n" + shares(std::span(groups).first(3), names) + "\n";
  return text + "### Every difference\n" +
         differences(KnownDifferences::read(MUSCOPE_SOURCE_DIR "/tests/counters"), groups);
}

int main_of(int argc, char** argv) {
  const std::string text = tables();
  if (argc == 1) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  if (argc != 3 || (std::strcmp(argv[1], "--check") != 0 && std::strcmp(argv[1], "--write") != 0)) {
    std::fputs("usage: accuracy [--check FILE | --write FILE]\n", stderr);
    return 2;
  }
  std::stringstream read;
  read << std::ifstream(argv[2]).rdbuf();
  const std::string page = read.str();
  const std::size_t begin = page.find(kBegin), end = page.find(kEnd);
  if (begin == page.npos || end == page.npos || end < begin) {
    std::fprintf(stderr, "%s: the marks of the tables are missing\n", argv[2]);
    return 1;
  }
  const std::size_t from = begin + kBegin.size();
  if (std::strcmp(argv[1], "--write") == 0) {
    std::ofstream(argv[2]) << page.substr(0, from) << "\n" << text << "\n" << page.substr(end);
    return 0;
  }
  if (page.substr(from, end - from) == "\n" + text + "\n") return 0;
  std::fprintf(stderr, "%s is not up to date: run build/release/tests/accuracy --write docs/accuracy.md\n", argv[2]);
  return 1;
}

}  // namespace
}  // namespace muscope::counters

int main(int argc, char** argv) {
  try {
    return muscope::counters::main_of(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "accuracy: %s\n", e.what());
    return 1;
  }
}
