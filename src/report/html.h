// The HTML report: one page that needs nothing else. The page itself, its styles and its program are made from web/ and
// come as text with a mark in it; the report is put there as JSON.
//
//   <script type="application/json" id="muscope-data">   what the overview needs of every launch
//   <script type="application/json" id="muscope-0-17">   lines and instructions of launch body 17 of report 0
//
// Launches that are alike in everything but their number, process, stream and device share a body, and a browser reads
// a body when somebody looks at it: a page with hundreds of kernels opens at once. docs/report-schema.md has the
// format.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "report/text.h"

namespace muscope::report {

/// Where the page takes its data; stands in the page once.
inline constexpr std::string_view kPageMark = "<!--muscope-data-->";

/// What the comparison says of a kernel (diff/verdict.h). A name is empty where that side has no such kernel.
struct PageVerdict {
  std::string before, after;  ///< demangled names
  std::string text;           ///< "better", "mixed: local load sectors worse"
};

struct HtmlOptions {
  SourceReader source = read_sources_from_disk();
  /// By report; where there is none, `source`. Two reports may speak of one file before and after it was edited.
  std::vector<SourceReader> sources;
  std::vector<PageVerdict> verdicts;            ///< of two reports
  std::string directory = working_directory();  ///< files below it are named as seen from there
};

/// `page` with the reports in it: one, or two that the page compares (before, after). The text of the source files that
/// the reports name is included as far as it can be read. The same reports, sources and page give the same bytes.
std::string to_html(std::span<const Report* const> reports, std::string_view page, const HtmlOptions& options = {});

}  // namespace muscope::report
