#include "toolchain/widen_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace muscope::toolchain {
namespace {

constexpr std::size_t kLongestCopy = 256;  // bytes
constexpr std::size_t kMostPieces = 32;
constexpr std::size_t kWidestPiece = 16;  // bytes: the widest access of a thread up to compute capability 9.0

/// One pointer argument: "ptr addrspace(3) align 16 dereferenceable(16) @tile".
struct Pointer {
  std::string_view type;   // "ptr" or "ptr addrspace(3)"
  std::string_view value;  // a name or a constant expression
  std::size_t alignment = 1;
};

struct Copy {
  Pointer target, source;
  std::size_t size = 0;
  std::string_view location;  // ", !dbg !7" or empty
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The end of the parenthesis that opens at `open`; npos when it does not close.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Splits at commas outside parentheses and quotes.
std::vector<std::string_view> arguments(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (!quoted && i < text.size() && text[i] == '(') ++depth;
    if (!quoted && i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0 && !quoted)) {
      out.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return out;
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes one word, with the parenthesis that may follow it, off the front of `text`.
std::string_view take_word(std::string_view& text) {
  std::size_t end = 0;
  bool quoted = false;
  while (end < text.size() && (quoted || text[end] != ' ')) {
    if (text[end] == '"') quoted = !quoted;
    if (text[end] == '(' && !quoted) {
      const std::size_t close = closing(text, end);
      if (close == std::string_view::npos) return {};
      end = close;
    }
    ++end;
  }
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

std::optional<Pointer> pointer_argument(std::string_view text) {
  if (!text.starts_with("ptr ")) return std::nullopt;
  Pointer pointer;
  std::string_view rest = text;
  take_word(rest);
  pointer.type = text.substr(0, 3);
  if (rest.starts_with("addrspace(")) {
    const std::string_view space = take_word(rest);
    pointer.type = text.substr(0, static_cast<std::size_t>(space.data() + space.size() - text.data()));
  }
  // Attributes until the value: a name, or a constant expression such as getelementptr (...).
  while (!rest.empty()) {
    if (rest.front() == '%' || rest.front() == '@' || rest.starts_with("getelementptr") ||
        rest.starts_with("addrspacecast") || rest.starts_with("inttoptr")) {
      pointer.value = rest;
      return pointer;
    }
    if (rest == "null" || rest == "undef" || rest == "poison") return std::nullopt;
    const std::string_view word = take_word(rest);
    if (word.empty()) return std::nullopt;
    if (word == "align") {
      const std::optional<std::size_t> value = number(take_word(rest));
      if (!value) return std::nullopt;
      pointer.alignment = *value;
    }
  }
  return std::nullopt;
}

std::optional<Copy> copy_of(std::string_view line) {
  const std::size_t call = line.find("call void @llvm.memcpy.");
  if (call == std::string_view::npos || line.find('=') < call) return std::nullopt;
  const std::string_view before = trimmed(line.substr(0, call));
  if (!before.empty() && before != "tail" && before != "notail") return std::nullopt;
  const std::size_t open = line.find('(', call);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = closing(line, open);
  if (close == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> parts = arguments(line.substr(open + 1, close - open - 1));
  if (parts.size() != 4 || parts[3] != "i1 false") return std::nullopt;
  if (!parts[2].starts_with("i64 ") && !parts[2].starts_with("i32 ")) return std::nullopt;
  const std::optional<Pointer> target = pointer_argument(parts[0]), source = pointer_argument(parts[1]);
  const std::optional<std::size_t> size = number(parts[2].substr(4));
  if (!target || !source || !size || *size == 0 || *size > kLongestCopy) return std::nullopt;
  Copy copy{*target, *source, *size, {}};
  const std::string_view tail = line.substr(close + 1);
  const std::size_t debug = tail.find(", !dbg !");
  if (debug != std::string_view::npos) {
    std::size_t end = debug + 8;
    while (end < tail.size() && tail[end] >= '0' && tail[end] <= '9') ++end;
    copy.location = tail.substr(debug, end - debug);
  }
  return copy;
}

std::string_view piece_type(std::size_t bytes) {
  switch (bytes) {
    case 16:
      return "<4 x i32>";
    case 8:
      return "i64";
    case 4:
      return "i32";
    case 2:
      return "i16";
    default:
      return "i8";
  }
}

/// Sizes of the pieces, widest first; empty when there would be too many.
std::vector<std::size_t> pieces_of(const Copy& copy) {
  std::size_t piece = std::min({copy.target.alignment, copy.source.alignment, kWidestPiece});
  std::vector<std::size_t> pieces;
  for (std::size_t left = copy.size; left > 0; left -= piece) {
    while (piece > left) piece /= 2;
    pieces.push_back(piece);
    if (pieces.size() > kMostPieces) return {};
  }
  return pieces;
}

/// The address `offset` bytes behind the pointer; writes the instruction that computes it.
std::string address(const Pointer& pointer, std::size_t offset, const std::string& name, std::string_view location,
                    std::string& out) {
  if (offset == 0) return std::string(pointer.value);
  out += fmt::format("  {} = getelementptr i8, {} {}, i64 {}{}\n", name, pointer.type, pointer.value, offset, location);
  return name;
}

void write(const Copy& copy, const std::vector<std::size_t>& pieces, std::size_t& serial, std::string& out) {
  std::string stores;
  std::size_t offset = 0;
  for (const std::size_t bytes : pieces) {
    const std::string name = fmt::format("%muscope.copy.{}", serial++);
    const std::string from = address(copy.source, offset, name + ".from", copy.location, out);
    out += fmt::format("  {} = load {}, {} {}, align {}{}\n", name, piece_type(bytes), copy.source.type, from, bytes,
                       copy.location);
    const std::string to = address(copy.target, offset, name + ".to", copy.location, stores);
    stores += fmt::format("  store {} {}, {} {}, align {}{}\n", piece_type(bytes), name, copy.target.type, to, bytes,
                          copy.location);
    offset += bytes;
  }
  out += stores;
}

}  // namespace

std::string widen_copies(std::string_view ir) {
  std::string out;
  out.reserve(ir.size() + ir.size() / 16);
  std::size_t serial = 0;
  while (!ir.empty()) {
    const std::size_t end = ir.find('\n');
    const std::string_view line = ir.substr(0, end);
    ir.remove_prefix(end == std::string_view::npos ? ir.size() : end + 1);
    const std::optional<Copy> copy = copy_of(line);
    const std::vector<std::size_t> pieces = copy ? pieces_of(*copy) : std::vector<std::size_t>{};
    if (pieces.empty()) {
      out += line;
      if (end != std::string_view::npos) out += '\n';
    } else {
      write(*copy, pieces, serial, out);
    }
  }
  return out;
}

}  // namespace muscope::toolchain
