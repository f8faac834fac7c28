// muscope html: JSON reports as a page for the browser; two of them side by side.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/embedded_text.h"
#include "cli/input_file.h"
#include "cli/run_output.h"
#include "diff/verdict.h"
#include "report/html.h"

namespace muscope::cli {

int html_command(const Arguments& args) {
  CLI::App app(
      "Makes a page for the browser from a JSON report, or from two that it compares. The page is one file and needs "
      "no "
      "network. The report holds the lines of source it names; what surrounds them is read where the compiler found "
      "it.",
      "muscope html");
  std::vector<std::string> names;
  std::string output;
  app.add_option("REPORT", names, "what `muscope run --json` wrote; two: before and after; - is stdin")
      ->required()
      ->expected(1, 2);
  app.add_option("-o,--output", output, "where the page goes; - is stdout")->required();
  parse(app, args,
        "  muscope html report.json -o report.html\n"
        "  muscope html before.json after.json -o changes.html\n");
  if (names.size() == 2 && names[0] == "-" && names[1] == "-")
    fail("D104", "both reports are to come from stdin", "name a file for one of them");
  OutputFile out(output);
  std::vector<report::Report> reports;
  report::HtmlOptions options;
  for (const std::string& name : names) {
    report::Sources lines;
    reports.push_back(read_report_file(name, &lines, "D745"));
    options.sources.push_back(reader_of(std::move(lines)));
  }
  std::vector<const report::Report*> pointers;
  for (const report::Report& report : reports) pointers.push_back(&report);
  if (reports.size() == 2) options.verdicts = diff::page_verdicts(diff::compare(reports[0], reports[1], {}, {}));
  out.write(report::to_html(pointers, report_page(), options));
  return kOk;
}

}  // namespace muscope::cli
