// Results as text, CSV, JSON and a page for browsers; and two of them compared.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/results.h"

namespace muscope::lab {

struct TextOptions {
  bool why = true;  ///< a line under each row that says what explains it
};
std::string to_text(const Results& results, const TextOptions& options = {});

/// One line per row. Fields hold neither line breaks nor control characters.
std::string to_csv(const Results& results);

/// Schema "muscope.lab/1", with the raw samples.
std::string to_json(const Results& results, const std::string& version);

/// One self-contained page: tables, and a picture per sweep; before them what a comparison says, where there is one.
/// Nothing is loaded from anywhere.
std::string to_html(const Results& results, const std::string& version, const std::string& comparison = "");

/// Sectors per request ("4", "4.25"); empty when nothing was requested or counted. `shared`: wavefronts are told where
/// there are no requests to global memory.
std::string counted_text(const std::optional<Counters>& counters);

/// The environment as text and page show it: sizes and clocks in units that people use.
std::vector<std::pair<std::string, std::string>> shown_environment(const Results& results);

/// Rows of one experiment as one program measured them (all programs have ceilings of their own).
struct Group {
  std::string program, experiment;
  std::string title;  ///< "stride-read", "ceilings of patterns"
  std::vector<const ResultRow*> rows;
};
std::vector<Group> groups_of(const Results& results);

/// What text and page show: a heading, and a line per row, from its name to its verdict. Columns in which all rows are
/// empty are left out.
std::vector<std::vector<std::string>> cells_of(const Group& group);

/// A row of an earlier result.
struct KnownRow {
  std::string program, experiment, name, unit;
  double median = 0, low = 0, high = 0;
};
/// From to_json's output. Throws Error D791.
std::vector<KnownRow> read_known(std::string_view json, const std::string& name);

struct Comparison {
  std::string text;
  int slower = 0, faster = 0, same = 0;
  int unmatched = 0, missing = 0;  ///< rows that only the later results have, only the earlier ones
};
/// A row is slower or faster when the intervals of the medians do not overlap and the medians differ by more than 1 %.
Comparison compare(const std::vector<KnownRow>& before, const Results& after);

}  // namespace muscope::lab
