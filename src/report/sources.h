// The text of the source lines that a report names, as it was when the program ran: `muscope diff` finds lines again by
// it after the file was edited.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "report/report.h"

namespace muscope::report {

/// By file, as the compiler named it, and line.
using Sources = std::map<std::string, std::map<int, std::string>>;

/// The lines that launches name, call sites of inlined code included, as far as `read` knows them.
Sources source_lines_of(const Report& report,
                   const std::function<std::optional<std::string>(const std::string& file, int line)>& read);

}  // namespace muscope::report
