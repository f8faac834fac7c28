// Files that commands read whole: reports, captures, budgets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/json.h"

namespace muscope::cli {

/// The whole file; "-" is stdin. Throws Error with that code and hint when it cannot be read or is longer than `most`
/// bytes.
std::string read_input(const std::string& path, std::size_t most, std::string_view code, const std::string& hint);

/// What `muscope run --json` wrote, with all that is known of its GPU; "-" is stdin. `sources` may be null. Throws
/// Error D760, D701, D702, D703.
report::Report read_report_file(const std::string& path, report::Sources* sources);

}  // namespace muscope::cli
