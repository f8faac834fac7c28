// links: port
// corpus: examples/copy/*.cu tests/programs/*.cu data/port/build.tsv
//
// Source and build files of any bytes: ported, ported again, and turned back, without a crash; edits stay in order.
// The first byte says what the file is.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <string>

#include "base/diagnostic.h"
#include "port/output.h"
#include "port/port.h"

namespace {

using namespace muscope;
using namespace muscope::port;

/// The tables of the source tree that this file lies in.
Rules read_rules() {
  static std::list<std::string> kept;
  std::vector<RuleText> tables;
  const auto folder = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "data/port";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    kept.push_back(entry.path().stem().string());
    const std::string& name = kept.back();
    kept.push_back(*read_file(entry.path().string(), 1 << 24));
    tables.push_back({name, kept.back()});
  }
  return Rules(tables);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Rules rules = read_rules();
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr const char* kNames[] = {"a.cu", "a.mu", "a.h", "CMakeLists.txt", "Makefile"};
  const std::string name = kNames[data[0] % std::size(kNames)];
  Options options;
  options.comments = (data[0] & 0x40) != 0;
  options.force = (data[0] & 0x80) != 0;
  std::string there, again, back;
  const PortReport report = port_text(text, name, rules, options, there);
  port_text(there, name, rules, options, again);
  options.target.direction = Direction::kToCuda;
  port_text(there, name, rules, options, back);
  unified_diff({name, FileKind::kSource, name, false, false}, text, there);
  findings_text(report, rules, {});
  shim_header(report);
  return 0;
}
