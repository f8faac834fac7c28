// DWARF 2 standard, section 6.2 (line number information), and the record of inlining of line_program.h.
#include "cubin/line_program.h"

#include <algorithm>

#include "cubin/byte_reader.h"
#include "cubin/elf_view.h"

namespace muscope::cubin {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t kFixedHeader = 15;  // up to the lengths of the standard opcodes
constexpr std::uint8_t kExtended = 0;
constexpr std::uint8_t kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4, kSetColumn = 5, kNegateStatement = 6,
                       kBasicBlock = 7, kConstAddPc = 8, kFixedAdvancePc = 9;
constexpr std::uint8_t kEndSequence = 1, kSetAddress = 2, kInlined = 0x90;

/// Reads forward through bytes; after the end it reads zeros and `ok` is false.
class Cursor {
 public:
  Cursor(Bytes bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

  bool ok() const { return ok_; }
  std::uint64_t at() const { return at_; }
  void move_to(std::uint64_t at) { at_ = at; }
  bool at_end() const { return at_ >= bytes_.size(); }

  template <typename T>
  T fixed() {
    if (!inside(bytes_.size(), at_, sizeof(T))) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    const T value = read_at<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = fixed<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  /// Up to the next NUL, which is passed over.
  std::string_view text() {
    const Bytes rest = bytes_.subspan(std::min<std::uint64_t>(at_, bytes_.size()));
    const auto end = std::find(rest.begin(), rest.end(), 0);
    if (end == rest.end()) {
      ok_ = false;
      at_ = bytes_.size();
      return {};
    }
    const auto length = static_cast<std::size_t>(end - rest.begin());
    at_ += length + 1;
    return {reinterpret_cast<const char*>(rest.data()), length};
  }

 private:
  Bytes bytes_;
  std::uint64_t at_;
  bool ok_ = true;
};

struct Header {
  std::uint64_t unit_end = 0;
  std::uint64_t program = 0;
  std::uint8_t min_length = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::vector<std::uint8_t> operands;  // of standard opcodes 1, 2 ...
};

bool read_header(Bytes section, std::uint64_t start, Header& header, LineUnit& unit) {
  Cursor in(section, start);
  const auto length = in.fixed<std::uint32_t>();
  if (!in.ok() || !inside(section.size(), start + 4, length)) return false;
  header.unit_end = start + 4 + length;
  const auto version = in.fixed<std::uint16_t>();
  const auto header_length = in.fixed<std::uint32_t>();
  if (version != 2 && version != 3) return false;  // versions 2 and 3 have the same header
  header.program = start + 10 + header_length;
  if (length < kFixedHeader - 4 || header.program > header.unit_end) return false;
  header.min_length = in.fixed<std::uint8_t>();
  in.fixed<std::uint8_t>();  // default of is_stmt
  header.line_base = in.fixed<std::int8_t>();
  header.line_range = in.fixed<std::uint8_t>();
  header.opcode_base = in.fixed<std::uint8_t>();
  if (header.line_range == 0 || header.opcode_base == 0) return false;
  for (unsigned i = 1; i < header.opcode_base; ++i) header.operands.push_back(in.fixed<std::uint8_t>());
  for (std::string_view name = in.text(); in.ok() && !name.empty(); name = in.text()) unit.directories.push_back(name);
  for (std::string_view name = in.text(); in.ok() && !name.empty(); name = in.text()) {
    LineFile file;
    file.name = name;
    file.directory = in.uleb();
    in.uleb();  // time
    in.uleb();  // size
    unit.files.push_back(file);
  }
  return in.ok();  // units with inlining have four more bytes of zeros here
}

class Machine {
 public:
  Machine(Bytes section, const Header& header, const LineVisitor& visitor)
      : in_(section.first(header.unit_end), header.program), header_(header), visitor_(visitor) {}

  bool run() {
    while (in_.ok() && !in_.at_end()) {
      const auto opcode = in_.fixed<std::uint8_t>();
      if (opcode >= header_.opcode_base) {
        const unsigned k = opcode - header_.opcode_base;
        advance(k / header_.line_range);
        add_line(header_.line_base + static_cast<int>(k % header_.line_range));
        visitor_.row(row_);
      } else if (opcode == kExtended) {
        extended();
      } else {
        standard(opcode);
      }
    }
    return in_.ok();
  }

 private:
  void advance(std::uint64_t steps) { row_.address += steps * header_.min_length; }
  void add_line(std::int64_t lines) {
    row_.line = static_cast<std::int64_t>(static_cast<std::uint64_t>(row_.line) + static_cast<std::uint64_t>(lines));
  }

  void standard(std::uint8_t opcode) {
    switch (opcode) {
      case kCopy:
        if (in_.ok()) visitor_.row(row_);
        break;
      case kAdvancePc:
        advance(in_.uleb());
        break;
      case kAdvanceLine:
        add_line(in_.sleb());
        break;
      case kSetFile:
        row_.file = in_.uleb();
        break;
      case kSetColumn:
        in_.uleb();
        break;
      case kNegateStatement:
      case kBasicBlock:
        break;
      case kConstAddPc:
        advance((255u - header_.opcode_base) / header_.line_range);
        break;
      case kFixedAdvancePc:
        row_.address += in_.fixed<std::uint16_t>();
        break;
      default:  // of a later version: passed over by the number of its operands
        for (unsigned i = 0; i < header_.operands[opcode - 1u]; ++i) in_.uleb();
        break;
    }
  }

  void extended() {
    const std::uint64_t length = in_.uleb();
    const std::uint64_t start = in_.at();
    if (!in_.ok() || length == 0) return;
    const auto opcode = in_.fixed<std::uint8_t>();
    if (opcode == kEndSequence) {
      visitor_.end_of_sequence();
      row_ = kStart;
    } else if (opcode == kSetAddress) {
      const std::uint64_t at = in_.at();
      const auto operand = in_.fixed<std::uint64_t>();
      if (in_.ok()) row_.address = visitor_.set_address(at, operand);
    } else if (opcode == kInlined) {
      row_.context = in_.uleb();
      row_.function = in_.uleb();
    }
    // The length counts, whatever the operands were. It cannot lead backwards: lengths are positive.
    if (start + length < start) {
      in_.move_to(~std::uint64_t{0});
    } else {
      in_.move_to(start + length);
    }
  }

  static constexpr LineRow kStart{.address = 0, .file = 1, .line = 1, .context = 0, .function = 0};
  Cursor in_;
  const Header& header_;
  const LineVisitor& visitor_;
  LineRow row_ = kStart;
};

}  // namespace

bool run_line_program(Bytes section, const LineVisitor& visitor) {
  std::uint64_t start = 0;
  while (start < section.size()) {
    Header header;
    LineUnit unit;
    if (!read_header(section, start, header, unit)) return false;
    visitor.unit(unit);
    if (!Machine(section, header, visitor).run()) return false;
    visitor.end_of_sequence();  // in case the program did not end its last one
    start = header.unit_end;
  }
  return true;
}

}  // namespace muscope::cubin
