// What the data of the HTML report is made with. Includes nlohmann/json: for the .cc files of this part only.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/html.h"

namespace muscope::report {

using PageJson = nlohmann::ordered_json;

/// Values that occur often, written once and then named by their number.
template <typename Key>
class Interned {
 public:
  std::size_t number_of(const Key& key) {
    const auto [at, fresh] = numbers_.try_emplace(key, keys_.size());
    if (fresh) keys_.push_back(key);
    return at->second;
  }
  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::map<Key, std::size_t> numbers_;
  std::vector<Key> keys_;
};

/// What all launches of a page share.
struct PageTables {
  Interned<std::pair<std::string, std::string>> metrics;  ///< name and unit
  Interned<std::pair<std::string, std::string>> grades;   ///< grade and reason
};

/// Source files by name, with the lines that the report speaks of.
using SourceUse = std::map<std::string, std::set<int>>;

/// The launch as the JSON report has it, with its metrics and addresses in short form, without what differs between
/// launches that are alike; `lines` and `code` stand in a second object.
struct LaunchParts {
  PageJson head;
  PageJson body;
};
LaunchParts parts_of(const LaunchReport& launch, const arch::GpuSpec& gpu, PageTables& tables, SourceUse& used);

/// The limits that occupancy follows from; null where they are not known.
PageJson limits_of(const arch::GpuSpec& gpu);

/// The text of the files in `used`, as far as `options.source` gives it: all of a file that is not long, else the
/// surroundings of the lines that are spoken of.
PageJson sources_of(const SourceUse& used, const HtmlOptions& options);

/// JSON that may stand in a script element: no `<` in it. Text that is not UTF-8 has U+FFFD in the place of the
/// offending bytes.
std::string script_text(const PageJson& json);

}  // namespace muscope::report
