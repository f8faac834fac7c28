// Capture: what a user read off a GPU with Nsight Compute, `ncu --csv`, as plain data. Both layouts are read: a column
// for each metric (`--page raw`) and a row for each metric (the other pages).
//
// The text is anybody's: banner lines and the program's own output stand before and between the rows, spreadsheets
// change separators and quotes, files are cut off. Whatever cannot be read is counted, never guessed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muscope::verify {

/// A number as it stands in a cell. ncu rounds and, without `--print-units base`, scales what it prints: the true value
/// is within `resolution` of `value`; whole unscaled numbers have a resolution of 0.
struct CaptureValue {
  std::uint32_t metric = 0;  ///< index into Capture::metrics
  double value = 0;
  double resolution = 0;
};

struct CaptureLaunch {
  std::uint64_t id = 0;       ///< ncu's "ID"
  std::uint32_t process = 0;  ///< index into Capture::processes
  std::string kernel;         ///< as ncu spells it
  std::optional<std::array<std::uint32_t, 3>> grid, block;
  std::string cc;                    ///< "9.0", may be empty
  std::vector<CaptureValue> values;  ///< by metric, without repeats
};

struct CaptureProcess {
  std::string id, name;
};

struct Capture {
  std::vector<std::string> metrics;       ///< names with suffix, those that `wanted` let through
  std::vector<CaptureProcess> processes;  ///< in the order of their first launch
  std::vector<CaptureLaunch> launches;
  std::string gpu;                      ///< device__attribute_display_name where it was captured
  std::uint64_t other_metrics = 0;      ///< columns or names that were not wanted
  std::uint64_t unreadable_lines = 0;   ///< between rows: neither a row nor a line of ncu ("==PROF== ...")
  std::uint64_t unreadable_values = 0;  ///< cells of wanted metrics that are not numbers
  int first_unreadable_line = 0;
};

/// Limits of what is read: Error D741 beyond them.
inline constexpr std::size_t kMostCaptureBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMostLaunches = 100'000;
inline constexpr std::size_t kMostColumns = 65'536;
inline constexpr std::size_t kMostMetrics = 1'000;  ///< wanted ones

/// Reads a capture. `wanted` says whether a metric of that name (with suffix) is of use; others are counted only.
/// Throws Error D740 where no row of column names is found, D741 beyond a limit, D742 when there is no launch. `name`
/// is the file, for messages.
Capture read_capture(std::string_view text, const std::string& name,
                     const std::function<bool(std::string_view)>& wanted);

/// The cells of one line of CSV: quoted with doubled quotes inside, or bare. Empty when a quote is not closed or is
/// followed by something else than `separator`, or when there are more than kMostColumns.
std::vector<std::string> split_csv_line(std::string_view line, char separator);

/// "1,234,567", "14.73", "1.5e+06", "12 (4; 4; 4)" (the first number counts). The resolution is half a unit of the last
/// decimal place; 0 for whole numbers. Empty for anything else, such as "", "n/a", "inf" or "1,23".
std::optional<CaptureValue> parse_number(std::string_view text);

/// What a number of that unit is to be multiplied by: "Kbyte" 1e3, "Mbyte/block" 1e6, "byte" 1.
double scale_of_unit(std::string_view unit);

}  // namespace muscope::verify
