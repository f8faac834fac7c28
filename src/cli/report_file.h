// Files that commands read as a whole: reports and captures.
#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"
#include "report/sources.h"
#include "report/text.h"

namespace muscope::cli {

/// The whole file, "-": stdin. Throws Error D745 with `hint` when it cannot be read or is longer than `most` bytes.
std::string read_whole(const std::string& path, std::size_t most, const std::string& hint);

/// What `muscope run --json` wrote. Throws Error D745, D701, D702, D703.
/// `sources` gets the lines of source that it holds; it may be null.
report::Report read_report(const std::string& path, const std::string& hint = "name a report of `muscope run --json`",
                           report::Sources* sources = nullptr);

/// Source text for a report that holds `lines`: these, which are those that ran; from disk what surrounds them, unless
/// the file was edited since.
report::SourceReader reader_of(report::Sources lines);

}  // namespace muscope::cli
