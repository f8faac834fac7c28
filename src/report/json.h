// The JSON report, schema "muscope.report/1" (docs/report-schema.md). The same run gives the same bytes: keys have a
// fixed order, and neither times nor process numbers are written.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/report.h"
#include "report/sources.h"

namespace muscope::report {

inline constexpr std::string_view kReportSchema = "muscope.report/1";

/// Ends with a newline. Text that is not UTF-8 has U+FFFD in the place of the offending bytes. `sources` is written
/// where it is not empty.
std::string to_json(const Report& report, const Sources& sources = {});

/// The same, handed to `sink` in parts: reports of programs with very many launches can be larger than memory.
void write_json(const Report& report, const Sources& sources, const std::function<void(std::string_view)>& sink);

/// One launch as to_json writes it, on one line and without a newline.
std::string launch_to_json(const LaunchReport& launch);

/// Reads to_json's output back. Throws Error D701 (not JSON), D702 (another schema), D703 (a field is missing or has
/// the wrong type; the message names it by its path). Unknown keys are ignored. Process numbers become indices, and of
/// the GPU only what the file holds is known. `name` is the file, for messages.
/// `sources` gets the lines of source that the file holds; it may be null.
Report from_json(std::string_view text, std::string_view name, Sources* sources = nullptr);

}  // namespace muscope::report
