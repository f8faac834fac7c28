// links: lab
// corpus: tests/fuzz/lab_seeds/*
//
// Results of the lab's programs, and of `muscope lab --json`: any bytes end in rows or in a diagnostic.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "lab/output.h"
#include "lab/raw.h"
#include "lab/results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    muscope::lab::ProgramResults program;
    program.run = muscope::lab::read_raw(text, "fuzz");
    program.counted = program.run;
    std::vector<int> launches;
    for (const auto& row : program.run.rows) launches.push_back(row.launches);
    program.predicted = muscope::lab::counters_of_rows({}, launches);
    const muscope::lab::Results results = muscope::lab::combine({program});
    muscope::lab::to_text(results);
    muscope::lab::to_csv(results);
    muscope::lab::to_html(results, "0");
    const auto known = muscope::lab::read_known(muscope::lab::to_json(results, "0"), "fuzz");
    muscope::lab::compare(known, results);
  } catch (const muscope::Error&) {
  }
  try {
    muscope::lab::read_known(text, "fuzz");
  } catch (const muscope::Error&) {
  }
  return 0;
}
