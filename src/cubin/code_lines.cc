// The two line tables of a cubin put to its code sections: .debug_line with chains of inlined calls,
// .nv_debug_line_sass with lines of the PTX text.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "cubin/byte_reader.h"
#include "cubin/code_reader.h"
#include "cubin/line_program.h"

namespace muscope::cubin {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view kSourceTable = ".debug_line", kStrings = ".debug_str", kPtxTable = ".nv_debug_line_sass";
constexpr std::string_view kPtxText = ".nv_debug_ptx_txt";  // nvlink adds a number to each

std::uint32_t line_number(std::int64_t line) {
  return line > 0 && line <= UINT32_MAX ? static_cast<std::uint32_t>(line) : 0;
}

/// Follows the section that addresses belong to, through the relocations of a line table.
class SectionTracker {
 public:
  SectionTracker(CodeReader& reader, std::string_view table) : reader_(reader) {
    const std::vector<ElfSection>& sections = reader.elf.sections();
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].name != table) continue;
      bytes_ = sections[i].bytes;
      for (const RawRelocation& r : relocations_of(reader, i)) relocations_.emplace(r.offset, r);
      break;
    }
  }

  Bytes bytes() const { return bytes_; }

  std::uint64_t set_address(std::uint64_t operand_at, std::uint64_t operand) {
    const auto found = relocations_.find(operand_at);
    if (found == relocations_.end()) {
      current_ = reader_.image.sections.size() == 1 ? &reader_.image.sections[0] : nullptr;
      return operand;
    }
    current_ = nullptr;
    if (found->second.symbol >= reader_.symbols.size()) return operand;
    const ElfSymbol& symbol = reader_.symbols[found->second.symbol];
    const SectionPlace place = reader_.place_of(symbol);
    if (place.place == SymbolPlace::kCode) current_ = &reader_.image.sections[static_cast<std::size_t>(place.index)];
    return operand + symbol.value + static_cast<std::uint64_t>(found->second.addend);
  }

  /// The section that has code at `pc`, or null.
  CodeSection* section(std::uint64_t pc) const {
    return current_ != nullptr && pc < current_->bytes.size() ? current_ : nullptr;
  }
  void leave() { current_ = nullptr; }

 private:
  CodeReader& reader_;
  Bytes bytes_;
  std::unordered_map<std::uint64_t, RawRelocation> relocations_;
  CodeSection* current_ = nullptr;
};

/// By pc; of several rows at one pc the last one, which is the innermost of the calls that begin there.
template <typename Row>
void tidy(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.pc < b.pc; });
  std::vector<Row> kept;
  kept.reserve(rows.size());
  for (const Row& row : rows) {
    if (!kept.empty() && kept.back().pc == row.pc) {
      kept.back() = row;
    } else {
      kept.push_back(row);
    }
  }
  rows = std::move(kept);
}

class SourceLines {
 public:
  explicit SourceLines(CodeReader& reader) : reader_(reader), tracker_(reader, kSourceTable) {}

  void read() {
    LineVisitor visitor;
    visitor.unit = [this](const LineUnit& unit) { start_unit(unit); };
    visitor.set_address = [this](std::uint64_t at, std::uint64_t operand) { return tracker_.set_address(at, operand); };
    visitor.row = [this](const LineRow& row) { add(row); };
    visitor.end_of_sequence = [this] { end_sequence(); };
    run_line_program(tracker_.bytes(), visitor);  // after damage: what came before it
    unit_ = nullptr;
    for (CodeSection& section : reader_.image.sections) tidy(section.lines);
    name_frames();
  }

 private:
  struct Call {  // a row that may be a call
    std::uint32_t file = 0, line = 0;
    std::int32_t frame = -1;
  };
  struct FrameName {
    std::uint32_t unit = 0;
    std::uint64_t offset = 0;
    auto operator<=>(const FrameName&) const = default;
  };

  void start_unit(const LineUnit& unit) {
    unit_ = &unit;
    ++unit_number_;
    file_of_.assign(unit.files.size(), kNotLookedUp);
    end_sequence();
  }

  void end_sequence() {
    calls_.clear();
    last_context_ = 0;
    tracker_.leave();
  }

  void add(const LineRow& row) {
    const Call here{file_index(row.file), line_number(row.line), frame_of(row)};
    // ptxas does not number a row that repeats the one before it: so each of 14,328 first records of a call names the
    // row before it (161 programs and code_other.cu), otherwise 6 do not.
    if (row != previous_ || calls_.empty()) calls_.push_back(here);
    previous_ = row;
    if (CodeSection* section = tracker_.section(row.address))
      section->lines.push_back({row.address, here.file, here.line, here.frame});
  }

  std::int32_t frame_of(const LineRow& row) {
    if (row.context == 0 || row.context > calls_.size()) return -1;  // a call that comes later: damaged
    if (row.context == last_context_ && row.function == last_function_) return last_frame_;
    const Call& call = calls_[row.context - 1];
    const FrameName name{unit_number_, row.function};
    const auto key = std::tuple(name, call.file, call.line, call.frame);
    const auto [found, is_new] = frame_index_.try_emplace(key, static_cast<std::int32_t>(reader_.image.frames.size()));
    if (is_new) {
      reader_.image.frames.push_back({{}, call.file, call.line, call.frame});
      names_.push_back(name);
    }
    last_context_ = row.context;
    last_function_ = row.function;
    last_frame_ = found->second;
    return last_frame_;
  }

  std::uint32_t file_index(std::uint64_t number) {
    if (unit_ == nullptr || number == 0 || number > unit_->files.size()) return intern({});
    std::uint32_t& index = file_of_[number - 1];
    if (index != kNotLookedUp) return index;
    const LineFile& file = unit_->files[number - 1];
    std::string_view directory;
    if (!file.name.starts_with('/') && file.directory != 0 && file.directory <= unit_->directories.size())
      directory = unit_->directories[file.directory - 1];
    std::string path;
    if (reader_.budget.try_take(file.name.size() + directory.size() + sizeof(std::string))) {
      path = directory;
      if (!path.empty() && !path.ends_with('/')) path += '/';
      path += file.name;
    }
    index = intern(path);
    return index;
  }

  std::uint32_t intern(const std::string& path) {
    const auto [found, is_new] = path_index_.try_emplace(path, static_cast<std::uint32_t>(reader_.image.files.size()));
    if (is_new) reader_.image.files.push_back(path);
    return found->second;
  }

  // nvlink appends the strings of its inputs to each other but leaves the offsets in the inlining records as they were,
  // from the start of each input's own strings (seen with nvlink 13.0). A unit's strings end with the last one it
  // mentions.
  void name_frames() {
    const ElfSection* section = reader_.elf.find(kStrings);
    const Bytes strings = section != nullptr ? section->bytes : Bytes{};
    std::map<std::uint32_t, std::uint64_t> last;  // by unit
    for (const FrameName& name : names_) last[name.unit] = std::max(last[name.unit], name.offset);
    std::map<std::uint32_t, std::uint64_t> base;
    std::uint64_t next = 0;
    for (const auto& [unit, offset] : last) {
      base[unit] = next;
      if (next > strings.size() || offset > strings.size()) {
        next = strings.size() + 1;
        continue;
      }
      const auto end = std::find(strings.begin() + static_cast<std::ptrdiff_t>(std::min(next + offset, strings.size())),
                                 strings.end(), 0);
      next = static_cast<std::uint64_t>(end - strings.begin()) + 1;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].offset > strings.size()) continue;
      const std::uint64_t at = base[names_[i].unit] + names_[i].offset;
      if (at >= strings.size() || (at > 0 && strings[at - 1] != 0)) continue;  // not the start of a string
      const std::string_view name = ElfView::string_at(strings, at);
      if (reader_.budget.try_take(name.size())) reader_.image.frames[i].function = std::string(name);
    }
  }

  static constexpr std::uint32_t kNotLookedUp = UINT32_MAX;
  CodeReader& reader_;
  SectionTracker tracker_;
  const LineUnit* unit_ = nullptr;
  std::uint32_t unit_number_ = 0;
  std::vector<std::uint32_t> file_of_;                  // of the unit's file numbers
  std::vector<Call> calls_;                             // the rows of the sequence so far
  std::uint64_t last_context_ = 0, last_function_ = 0;  // of the sequence; 0: none yet
  std::int32_t last_frame_ = -1;
  LineRow previous_;
  std::map<std::tuple<FrameName, std::uint32_t, std::uint32_t, std::int32_t>, std::int32_t> frame_index_;
  std::vector<FrameName> names_;  // of image.frames
  std::unordered_map<std::string, std::uint32_t> path_index_;
};

std::vector<PtxText> ptx_texts(CodeReader& reader) {
  std::vector<PtxText> texts;
  for (const ElfSection& section : reader.elf.sections()) {
    if (!section.name.starts_with(kPtxText)) continue;
    reader.section_bytes.take(section.bytes.size());
    PtxText& text = texts.emplace_back();
    text.name = reader.text(section.name);
    const std::string_view all(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size());
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = std::min(all.find('\0', at), all.size());
      reader.budget.take(sizeof(std::string));
      text.lines.emplace_back(all.substr(at, end - at));
      at = end + 1;
    }
  }
  return texts;
}

}  // namespace

void read_source_lines(CodeReader& reader) { SourceLines(reader).read(); }

void read_ptx_lines(CodeReader& reader) {
  reader.image.ptx_texts = ptx_texts(reader);
  SectionTracker tracker(reader, kPtxTable);
  std::vector<std::uint32_t> text_of;  // of the unit's file numbers: nvlink lists the sections of the texts as files
  LineVisitor visitor;
  visitor.unit = [&](const LineUnit& unit) {
    tracker.leave();
    text_of.clear();
    for (const LineFile& file : unit.files) {
      const auto& texts = reader.image.ptx_texts;
      const auto found =
          std::find_if(texts.begin(), texts.end(), [&](const PtxText& t) { return t.name == file.name; });
      text_of.push_back(found == texts.end() ? 0 : static_cast<std::uint32_t>(found - texts.begin()));
    }
  };
  visitor.set_address = [&](std::uint64_t at, std::uint64_t operand) { return tracker.set_address(at, operand); };
  visitor.row = [&](const LineRow& row) {
    CodeSection* section = tracker.section(row.address);
    if (section == nullptr) return;
    const bool has_text = row.file >= 1 && row.file <= text_of.size();
    section->ptx_lines.push_back({row.address, line_number(row.line), has_text ? text_of[row.file - 1] : 0});
  };
  visitor.end_of_sequence = [&] { tracker.leave(); };
  run_line_program(tracker.bytes(), visitor);
  for (CodeSection& section : reader.image.sections) tidy(section.ptx_lines);
}

}  // namespace muscope::cubin
