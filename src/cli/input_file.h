// Files that commands read whole: reports, captures, budgets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "arch/gpu_spec.h"
#include "report/json.h"
#include "report/sources.h"
#include "report/text.h"

namespace muscope::cli {

/// The whole file; "-" is stdin. Throws Error with that code and hint when it cannot be read or is longer than `most`
/// bytes, D730 when it is an output of this process too (keep_input).
std::string read_input(const std::string& path, std::size_t most, std::string_view code, const std::string& hint);

/// arch::find_gpu; a JSON file that it reads is kept (keep_input). Throws Error D730 and what find_gpu throws.
arch::GpuSpec read_gpu(const std::string& name);

/// What `muscope run --json` wrote, with all that is known of its GPU; "-" is stdin. `sources` gets the lines of source
/// that it holds; it may be null. No output of this process may replace the file (keep_input). Throws Error `code`,
/// D730, D701, D702, D703.
report::Report read_report_file(const std::string& path, report::Sources* sources, std::string_view code);

/// Source text for a report that holds `lines`: these, which are those that ran; from disk what surrounds them, unless
/// the file was edited since.
report::SourceReader reader_of(report::Sources lines);

/// Says on stderr why launches ended early and what processes and the run had to say; with `findings`, also what was
/// noticed in launches that ended well (reads outside an allocation). `name` stands before each when it is not empty.
void tell_diagnostics(const report::Report& report, bool findings, const std::string& name = {});

}  // namespace muscope::cli
