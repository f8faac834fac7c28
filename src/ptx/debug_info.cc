#include "ptx/debug_info.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace muscope::ptx {
namespace {

/// Longer chains of inlining than this are cut: no real program has them, a hostile one would make readers quadratic.
constexpr std::uint32_t kDeepestChain = 256;

std::size_t mix(std::size_t seed, std::uint64_t value) {
  return (seed ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15u + (seed >> 29);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::optional<int> read_int(std::string_view text) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

struct CommentPosition {
  std::string_view file;
  int line = 0;
  int column = 0;
};

/// "dir/a.cu:14:9", or "dir/a.cu:14" where the column is not known.
std::optional<CommentPosition> read_position(std::string_view text) {
  text = trim(text);
  const std::size_t last = text.rfind(':');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const auto last_number = read_int(text.substr(last + 1));
  if (!last_number) return std::nullopt;
  const std::size_t before = text.rfind(':', last - 1);
  if (before != std::string_view::npos && before > 0) {
    if (const auto line = read_int(text.substr(before + 1, last - before - 1))) {
      return CommentPosition{text.substr(0, before), *line, *last_number};
    }
  }
  return CommentPosition{text.substr(0, last), *last_number, 0};
}

/// Whether `name` of a comment may mean the file `path`: equal, or its tail after a slash.
bool names_file(std::string_view path, std::string_view name) {
  if (name.starts_with("./")) name.remove_prefix(2);
  if (name.empty() || !path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '/';
}

}  // namespace

std::size_t DebugInfo::PositionHash::operator()(const Position& position) const {
  std::size_t seed = mix(0, position.file);
  seed = mix(seed, static_cast<std::uint64_t>(static_cast<unsigned>(position.line)));
  return mix(seed, static_cast<std::uint64_t>(static_cast<unsigned>(position.column)));
}

std::size_t DebugInfo::EntryHash::operator()(const Entry& entry) const {
  std::size_t seed = mix(PositionHash{}(entry.position), entry.inlined_at);
  seed = mix(seed, entry.named_file);
  seed = mix(seed, entry.function.offset);
  return mix(seed, std::hash<std::string_view>{}(entry.function.label));
}

void DebugInfo::add_file(std::uint64_t number, std::string name) {
  const auto [entry, fresh] = file_index_.emplace(number, static_cast<std::uint32_t>(files_.size()));
  if (fresh) {
    files_.push_back(std::move(name));
  } else {
    files_[entry->second] = std::move(name);
  }
}

std::uint32_t DebugInfo::add_entry(Entry entry) {
  if (entry.inlined_at != kNoIndex) {
    entry.depth = entries_[entry.inlined_at].depth + 1;
    while (entry.depth >= kDeepestChain && entry.inlined_at != kNoIndex) {
      entry.inlined_at = entries_[entry.inlined_at].inlined_at;
      entry.depth = entry.inlined_at == kNoIndex ? 0 : entries_[entry.inlined_at].depth + 1;
    }
  }
  const auto [found, fresh] = known_.emplace(entry, static_cast<std::uint32_t>(entries_.size()));
  if (fresh) entries_.push_back(entry);
  return found->second;
}

std::uint32_t DebugInfo::comment_file(std::string_view name) {
  const auto [entry, fresh] = comment_file_index_.emplace(name, static_cast<std::uint32_t>(comment_files_.size()));
  if (fresh) {
    comment_files_.push_back(name);
    comment_file_numbers_.push_back(0);
  }
  return entry->second;
}

std::uint32_t DebugInfo::add_comment_chain(std::string_view chain) {
  // From the outermost call site (the last) inwards, so that every entry can point to the one that holds it.
  std::vector<CommentPosition> sites;
  while (!chain.empty() && sites.size() < kDeepestChain) {
    const std::size_t next = chain.find(" @[ ");
    std::string_view site = trim(chain.substr(0, next));
    while (site.ends_with("]")) site = trim(site.substr(0, site.size() - 1));
    const auto position = read_position(site);
    if (!position) break;
    sites.push_back(*position);
    chain = next == std::string_view::npos ? std::string_view{} : chain.substr(next + 4);
  }
  std::uint32_t outer = kNoIndex;
  for (auto site = sites.rbegin(); site != sites.rend(); ++site) {
    Entry entry;
    entry.position = {0, site->line, site->column};
    entry.named_file = comment_file(site->file);
    entry.inlined_at = outer;
    outer = add_entry(entry);
  }
  return outer;
}

std::uint32_t DebugInfo::add(const Position& position, std::string_view comment) {
  Entry entry;
  entry.position = position;
  const std::size_t bracket = comment.find(" @[ ");
  if (bracket != std::string_view::npos) {
    const auto own = read_position(comment.substr(0, bracket));
    if (own && own->line == position.line) {
      comment_file_numbers_[comment_file(own->file)] = position.file;
      entry.inlined_at = add_comment_chain(comment.substr(bracket + 4));
    }
  }
  const std::uint32_t index = add_entry(entry);
  latest_[position] = index;
  return index;
}

std::uint32_t DebugInfo::add(const Position& position, const Inlined& inlined) {
  Entry entry;
  entry.position = position;
  entry.function = {inlined.label, inlined.offset};
  const auto outer = latest_.find(inlined.at);
  entry.inlined_at = outer == latest_.end() ? add(inlined.at, std::string_view{}) : outer->second;
  const std::uint32_t index = add_entry(entry);
  latest_[position] = index;
  return index;
}

std::string DebugInfo::function_name(const Name& name, std::size_t& budget) const {
  std::size_t begin = 0;
  if (name.label != ".debug_str") {
    const auto label = labels_.find(name.label);
    if (label == labels_.end()) return {};
    begin = label->second;
  }
  if (name.offset > strings_.size() || begin + name.offset > strings_.size()) return {};
  begin += static_cast<std::size_t>(name.offset);
  const std::size_t end = std::min(strings_.find('\0', begin), strings_.size());
  if (end - begin > budget) return {};
  budget -= end - begin;
  return strings_.substr(begin, end - begin);
}

void DebugInfo::finish(Module& module, std::size_t text_size) {
  std::vector<std::uint32_t> comment_to_file(comment_files_.size(), kNoIndex);
  for (std::size_t i = 0; i < comment_files_.size(); ++i) {
    if (const auto told = file_index_.find(comment_file_numbers_[i]); told != file_index_.end()) {
      comment_to_file[i] = told->second;
    }
  }
  std::size_t comparisons = text_size + 1024;
  for (std::size_t i = 0; i < comment_files_.size(); ++i) {
    for (std::size_t f = 0; f < files_.size() && comment_to_file[i] == kNoIndex && comparisons > 0;
         ++f, --comparisons) {
      if (names_file(files_[f], comment_files_[i])) comment_to_file[i] = static_cast<std::uint32_t>(f);
    }
    if (comment_to_file[i] != kNoIndex) continue;
    comment_to_file[i] = static_cast<std::uint32_t>(files_.size());
    files_.emplace_back(comment_files_[i]);
  }
  std::size_t budget = 64 * text_size + (std::size_t{1} << 20);
  module.locs.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    Loc loc;
    loc.line = entry.position.line;
    loc.column = entry.position.column;
    loc.inlined_at = entry.inlined_at;
    if (!entry.function.label.empty()) loc.function = function_name(entry.function, budget);
    if (entry.named_file != kNoIndex) {
      loc.file = comment_to_file[entry.named_file];
    } else {
      const auto [file, fresh] = file_index_.emplace(entry.position.file, static_cast<std::uint32_t>(files_.size()));
      if (fresh) files_.emplace_back();
      loc.file = file->second;
    }
    module.locs.push_back(std::move(loc));
  }
  module.files = std::move(files_);
}

}  // namespace muscope::ptx
