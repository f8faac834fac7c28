// Source positions of a module while it is parsed: .file, .loc with its chain of call sites, .section .debug_str.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.h"

namespace muscope::ptx {

/// Collects positions in the order of the text; finish() resolves what could only be known at its end.
class DebugInfo {
 public:
  struct Position {
    std::uint64_t file = 0;  ///< the number of .file, not an index
    int line = 0;
    int column = 0;
    bool operator==(const Position&) const = default;
  };
  /// What follows `function_name` and `inlined_at` in a .loc.
  struct Inlined {
    std::string_view label;  ///< in .debug_str
    std::uint64_t offset = 0;
    Position at;
  };

  void add_file(std::uint64_t number, std::string name);

  /// Call sites are looked for among the positions of the same function only.
  void begin_function() { latest_.clear(); }

  /// The index into Module::locs of a .loc without inlining. `comment` is what stood behind it: clang 22 writes
  /// " a.h:6:43 @[ b.cu:8:10 @[ b.cu:14:9 ] ]" there.
  std::uint32_t add(const Position& position, std::string_view comment);
  /// ... and of one with it. A call site that equals an earlier .loc which was itself inlined continues that chain.
  std::uint32_t add(const Position& position, const Inlined& inlined);

  void add_string_label(std::string_view label) { labels_.emplace(label, strings_.size()); }
  void add_string_byte(std::uint8_t byte) { strings_.push_back(static_cast<char>(byte)); }

  /// Moves files and positions into `module`. Memory stays proportional to `text_size`: names beyond that are left out.
  void finish(Module& module, std::size_t text_size);

 private:
  struct Name {
    std::string_view label;  ///< empty: no function name
    std::uint64_t offset = 0;
    bool operator==(const Name&) const = default;
  };
  struct Entry {
    Position position;
    Name function;
    std::uint32_t inlined_at = kNoIndex;
    std::uint32_t named_file = kNoIndex;  ///< index into comment_files_: the file is known by name only
    std::uint32_t depth = 0;
    bool operator==(const Entry&) const = default;
  };
  struct EntryHash {
    std::size_t operator()(const Entry& entry) const;
  };
  struct PositionHash {
    std::size_t operator()(const Position& position) const;
  };

  std::uint32_t add_entry(Entry entry);
  std::uint32_t add_comment_chain(std::string_view chain);
  std::uint32_t comment_file(std::string_view name);
  std::string function_name(const Name& name, std::size_t& budget) const;

  std::unordered_map<std::uint64_t, std::uint32_t> file_index_;  ///< .file number -> index
  std::vector<std::string> files_;
  std::unordered_map<std::string_view, std::uint32_t> comment_file_index_;
  std::vector<std::string_view> comment_files_;
  std::vector<std::uint64_t> comment_file_numbers_;  ///< the .file number where a .loc told it, else 0
  std::unordered_map<std::string_view, std::size_t> labels_;
  std::string strings_;
  std::vector<Entry> entries_;
  std::unordered_map<Entry, std::uint32_t, EntryHash> known_;
  std::unordered_map<Position, std::uint32_t, PositionHash> latest_;
};

}  // namespace muscope::ptx
