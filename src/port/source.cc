#include "port/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "port/porter.h"
#include "port/tree.h"

namespace muscope::port {
namespace {

bool is_cub_path(std::string_view path) {
  return path.starts_with("cub/") || path.find("/cub/") != std::string_view::npos;
}

}  // namespace

void Porter::find(std::string_view code, const Token& token, std::string name, std::string text,
                  const std::string& library) {
  if (off_) return;
  Finding finding;
  finding.code = code;
  finding.severity = rules_.code(code).severity;
  finding.name = std::move(name);
  finding.text = std::move(text);
  finding.library = library;
  finding.begin = token.begin;
  finding.end = token.end;
  result_.findings.push_back(std::move(finding));
}

void Porter::add_edit(const Token& token, std::string text, EditKind kind) {
  if (!off_) result_.edits.push_back({token.begin, token.end, std::move(text), kind});
}

void Porter::count(const std::string& name, const NameInfo& info, const std::string& to) {
  NameUse& use = result_.names[name];
  use.to = to;
  use.library = info.library;
  use.by_rule = info.by_rule;
  use.seen = info.seen;
  use.one_way = info.one_way;
  ++use.count;
}

FileResult Porter::run() {
  while (true) {
    const Token token = lexer_.next();
    if (token.kind == TokenKind::kEnd) break;
    if (token.unterminated)
      find("P040", token, "", "this comment or string does not end: what follows was taken as part of it");
    switch (token.kind) {
      case TokenKind::kIdentifier:
        identifier(token);
        break;
      case TokenKind::kHeaderName:
        header(token);
        break;
      case TokenKind::kComment:
        comment(token);
        break;
      case TokenKind::kString:
      case TokenKind::kRawString:
        string(token);
        break;
      case TokenKind::kNumber:
        number(token);
        break;
      default:
        break;
    }
    if (token.kind == TokenKind::kComment) continue;
    remember(token);
    if (scoped_) scopes_.step(token);
  }
  // Numbers beside __CUDA_ARCH__ are changed before it or long after what stands before them.
  std::stable_sort(result_.edits.begin(), result_.edits.end(),
                   [](const Edit& x, const Edit& y) { return x.begin < y.begin; });
  if (to_musa_) check_musa();
  return std::move(result_);
}

/// A file that speaks MUSA already is left alone; what is wrong with it is told.
void Porter::check_musa() {
  const bool musa = foreign_.kind != TokenKind::kEnd;
  if (musa || path_.ends_with(".mu") || path_.ends_with(".muh"))
    for (const Token& token : doubtful_) {
      const std::string name = lexer_.spelling(token);
      if (project_.declared.contains(name)) continue;
      const std::string advice = names_.of(name).wrong;
      find("P026", token, name,
           fmt::format("MUSA has no '{}'{}{}", name, advice.empty() ? " as far as is known" : ": ", advice));
    }
  if (!musa || options_.force) return;
  result_.left_alone = true;
  std::erase_if(result_.findings,
                [](const Finding& f) { return f.code == "P020" || f.code == "P039" || f.code == "P002"; });
  for (const Edit& edit : result_.edits) {
    Token token;
    token.begin = edit.begin;
    token.end = edit.end;
    find("P027", token, std::string(raw(token)),
         fmt::format("'{}' is CUDA's, but this file speaks MUSA too and is left as it is; --force changes such names",
                     raw(token)));
  }
  result_.edits.clear();
  result_.names.clear();
}

/// CUDA's 48 KiB of shared memory for a block, written as a number on a line that speaks of shared memory.
void Porter::number(const Token& token) {
  if (!to_musa_) return;
  const auto is_number = [&](const Token& t, std::string_view text) {
    return t.kind == TokenKind::kNumber && raw(t).substr(0, text.size()) == text &&
           raw(t).find_first_not_of("uUlL", text.size()) == std::string_view::npos;
  };
  const bool last = is_number(token, "1024") || is_number(token, "48");
  const bool product = last && is(back(0), "*") && is_number(back(1), is_number(token, "48") ? "1024" : "48");
  if (!product && !is_number(token, "49152") && !is_number(token, "0xc000") && !is_number(token, "0xC000")) return;
  const std::size_t newline = text_.rfind('\n', token.begin);
  const std::size_t from = newline == std::string_view::npos ? 0 : newline + 1;
  const std::string_view line =
      text_.substr(from, std::min<std::size_t>(text_.find('\n', token.end), text_.size()) - from);
  constexpr std::string_view kWords[] = {"smem", "SMEM", "shared", "Shared", "SHARED", "Storage"};
  if (std::none_of(std::begin(kWords), std::end(kWords),
                   [&](std::string_view word) { return line.find(word) != std::string_view::npos; }))
    return;
  find(
      "P017", token, std::string(raw(token)),
      "48 KiB is what a block may have on CUDA; on MUSA 28 KiB (mp_21, mp_22), 72 KiB with opt-in on mp_22, 192 KiB on "
      "mp_31");
}

void Porter::identifier(const Token& token) {
  const std::string name = lexer_.spelling(token);
  if (is(back(0), ".") || is(back(0), ">"))
    for (const Report* report : names_.of("." + name).reports)
      if (to_musa_ && report->when.holds(options_.target))
        find(report->code, token, name, fmt::format("'{}': {}", name, report->text), report->library);
  if (name == "asm" || name == "__asm__" || name == "__asm") return assembly(token);
  if (name == "cuda" || name == "musa") return namespace_name(token);
  if ((name == "cute" || name == "mute") && !is_scope()) return;
  if (name == "texture" && to_musa_) {
    Lexer ahead = lexer_;
    if (is(ahead.next(), "<"))
      find("P006", token, name, "texture references are gone from CUDA 12 too: use a texture object, or plain loads");
    return;
  }
  if (project_.arch_aliases.contains(name)) {
    if (!is(back(0), "#") && !(back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "define"))
      architecture(token, name);
    return;
  }
  const NameInfo& info = names_.of(name);
  if (info.plain()) return;
  if (info.doubtful) {
    doubtful_.push_back(token);
    return;
  }
  named(token, name, info);
}

void Porter::named(const Token& token, const std::string& name, const NameInfo& info) {
  if (is_project_name(token, name, info)) return;
  if (info.foreign) {
    if (foreign_.kind == TokenKind::kEnd) foreign_ = token;
    if (info.reports.empty()) return;
  }
  const bool narrow = name.starts_with("__shfl_") && name.ends_with("_sync") && arguments_ahead() >= 4;
  for (const Report* report : info.reports)
    if (report->when.holds(options_.target) && (to_musa_ || info.foreign) && !narrow)
      find(report->code, token, name, fmt::format("'{}': {}", name, report->text), report->library);
  if (name == kArchMacros[0] || name == kArchMacros[1]) architecture(token, name);
  if (info.renamed) {
    rename(token, name, info);
  } else if (info.suspect) {
    // Those of CUDA in a MUSA file are found again when it is checked; reported once.
    const bool told = std::any_of(info.reports.begin(), info.reports.end(),
                                  [&](const Report* r) { return r->when.holds(options_.target); });
    if (!told)
      find("P021", token, name,
           fmt::format("'{}' looks like a name of {}, but is not known: it is left as it is", name,
                       to_musa_ ? "CUDA" : "MUSA"),
           info.library);
    pasted(token, name);
  }
}

/// Arguments of the call that follows; 0 when none does.
int Porter::arguments_ahead() const {
  constexpr int kMostTokens = 400;
  Lexer ahead = lexer_;
  int depth = 0, commas = 0;
  for (int i = 0; i < kMostTokens; ++i) {
    const Token next = ahead.next();
    if (next.kind == TokenKind::kEnd) break;
    if (next.kind != TokenKind::kPunctuation) {
      if (depth == 0) break;
      continue;
    }
    const char c = raw(next)[0];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 1) ++commas;
    if (depth == 0) return c == ')' ? commas + 1 : 0;
  }
  return 0;
}

/// Whether a name is used as a namespace's: cute and mute are words as well.
bool Porter::is_scope() const {
  Lexer ahead = lexer_;
  const Token first = ahead.next();
  const Token second = ahead.next();
  if (is(first, ":") && is(second, ":") && first.end == second.begin) return true;
  return back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "namespace";
}

void Porter::rename(const Token& token, const std::string& name, const NameInfo& info) {
  std::string to = info.to;
  pasted(token, name);
  if (token.spliced) {
    // The splices stay where they are.
    if (to.size() != name.size())
      return find("P025", token, name,
                  fmt::format("'{}' is divided by a backslash at the end of a line: write '{}' by hand", name, to));
    std::string with;
    std::size_t next = 0;
    const std::string_view text = raw(token);
    for (std::size_t i = 0; i < text.size(); ++i)
      with += next < name.size() && text[i] == name[next] ? to[next++] : text[i];
    to = std::move(with);
  }
  const std::uint64_t before = result_.names.contains(name) ? 1 : 0;
  count(name, info, info.to);
  if (before == 0 && info.by_rule && !info.seen && to_musa_)
    find("P020", token, name,
         fmt::format("'{}' becomes '{}' by rule: no public MUSA program is known to use it", name, info.to),
         info.library);
  if (before == 0 && info.one_way)
    find("P039", token, name,
         fmt::format("'{}' becomes '{}', which --to {} does not turn back", name, info.to, to_musa_ ? "cuda" : "musa"),
         info.library);
  add_edit(token, std::move(to), EditKind::kName);
}

void Porter::pasted(const Token& token, const std::string& name) {
  if (!token.in_directive) return;
  Lexer ahead = lexer_;
  const bool behind = is(ahead.next(), "#") && is(ahead.next(), "#");
  const bool before = is(back(0), "#") && is(back(1), "#");
  if (behind || before)
    find("P024", token, name, fmt::format("'{}' is joined with other text by ##: see that the whole is a name", name));
}

void Porter::namespace_name(const Token& token) {
  const std::string name(raw(token));
  Lexer ahead = lexer_;
  const Token first = ahead.next();
  const Token second = ahead.next();
  const bool scope = is(first, ":") && is(second, ":") && first.end == second.begin;
  if (is(first, "#") && is(second, "#") && to_musa_ && name == "cuda") {
    find("P024", token, name, "'cuda' is joined with other text by ##: see that the whole is a name");
    return;
  }
  if (project_.declared.contains(name)) {
    if (scope) ++result_.own_names[name];
    return;
  }
  const bool qualified = is(back(0), ":") && is(back(1), ":") && back(2).kind == TokenKind::kIdentifier;
  const bool of_thrust = qualified && raw(back(2)) == "thrust";
  const bool used =
      scope || (qualified && of_thrust) || (back(0).kind == TokenKind::kIdentifier && raw(back(0)) == "namespace");
  if (!used) return;
  const bool from = name == (to_musa_ ? "cuda" : "musa");
  if (!from) {
    if (foreign_.kind == TokenKind::kEnd) foreign_ = token;
    return;
  }
  if (qualified && !of_thrust) {
    if (to_musa_)
      find("P037", token, fmt::format("{}::cuda", raw(back(2))),
           fmt::format("'{}::cuda' belongs to another project: it is left as it is", raw(back(2))));
    return;
  }
  NameInfo info;
  info.library = of_thrust ? "thrust" : "libcu++";
  info.seen = true;
  const std::string to = to_musa_ ? "musa" : "cuda";
  count(name, info, to);
  if (!of_thrust && to_musa_)
    find("P041", token, "cuda::", "'cuda::' becomes 'musa::', which only recent MUSA SDKs have");
  add_edit(token, to, EditKind::kName);
}

void Porter::header(const Token& token) {
  const std::string_view marked = raw(token);
  const std::string name(marked.substr(1, marked.size() - 2));
  const auto change = [&](const std::string& to) {
    add_edit(token, fmt::format("{}{}{}", marked.front(), to, marked.back()), EditKind::kHeader);
  };
  const HeaderInfo info = rules_.header(name, options_.target.direction);
  for (const Report* report : info.reports)
    if (report->when.holds(options_.target))
      find(report->code, token, name, fmt::format("{}: {}", marked, report->text), report->library);
  if (info.foreign && foreign_.kind == TokenKind::kEnd) foreign_ = token;
  if (info.renamed) {
    NameInfo as_name;
    as_name.library = info.library;
    as_name.seen = true;
    as_name.one_way = info.one_way;
    const bool first = !result_.names.contains(name);
    count(name, as_name, info.to);
    if (first && info.one_way)
      find("P039", token, name,
           fmt::format("{} becomes '{}', which --to {} does not turn back", marked, info.to,
                       to_musa_ ? "cuda" : "musa"));
    return change(info.to);
  }
  if (!info.reports.empty() || info.foreign || !project_.renamed_file) return;
  if (is_cub_path(name)) return;
  if (const std::string to = project_.renamed_file(path_, name); !to.empty()) {
    change(to);
  }
}

void Porter::comment(const Token& token) {
  const std::string_view text = raw(token);
  const auto has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (has("MUSIFY_EXCL_STOP") || has("muscope-port on")) off_ = false;
  if (has("MUSIFY_EXCL_START") || has("muscope-port off")) {
    find("P042", token, "", "what follows is excluded by this mark and left as it is");
    off_ = true;
  }
  if (has("MUSIFY_EXCL_LINE")) {
    const std::size_t start =
        text_.rfind('\n', token.begin) == std::string_view::npos ? 0 : text_.rfind('\n', token.begin) + 1;
    while (!result_.edits.empty() && result_.edits.back().begin >= start) result_.edits.pop_back();
    while (!result_.findings.empty() && result_.findings.back().begin >= start) result_.findings.pop_back();
    find("P042", token, "", "this line is excluded by its mark and left as it is");
  }
  words_in(token, options_.comments, result_.in_comments);
}

/// A file of the project or a header that has a new name, as written from `at` of a comment or string: changed there
/// too. Where it ends; `at` when there is none.
std::size_t Porter::file_in_text(const Token& token, std::size_t at) {
  constexpr std::size_t kLongest = 4096;
  const std::string_view text = raw(token);
  std::size_t end = at;
  while (
      end < text.size() && end - at < kLongest &&
      (is_word_byte(static_cast<unsigned char>(text[end])) || text[end] == '.' || text[end] == '/' || text[end] == '-'))
    ++end;
  while (end > at && text[end - 1] == '.') --end;
  const std::string name(text.substr(at, end - at));
  std::string to;
  if (project_.renamed_file && !renamed_path(name, options_.target.direction).empty())
    to = project_.renamed_file(path_, name);
  else if (name.ends_with(".h"))
    to = rules_.header(name, options_.target.direction).to;
  if (to.empty()) return at;
  Token place = token;
  place.begin = token.begin + at;
  place.end = token.begin + end;
  add_edit(place, to, EditKind::kName);
  return end;
}

void Porter::words_in(const Token& token, bool change, std::uint64_t& left) {
  const std::string_view text = raw(token);
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_byte(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    if (change)
      if (const std::size_t after = file_in_text(token, i); after > i) {
        i = after;
        continue;
      }
    std::size_t end = i;
    while (end < text.size() && is_word_byte(static_cast<unsigned char>(text[end]))) ++end;
    const std::string name(text.substr(i, end - i));
    const NameInfo& info = names_.of(name);
    const bool space = name == (to_musa_ ? "cuda" : "musa") && text.substr(end).starts_with("::");
    if ((info.renamed && !(project_.declared.contains(name) && !info.seen)) || space) {
      if (change) {
        Token place = token;
        place.begin = token.begin + i;
        place.end = token.begin + end;
        add_edit(place, space ? (to_musa_ ? "musa" : "cuda") : info.to, EditKind::kName);
      } else {
        ++left;
      }
    }
    i = end;
  }
}

void Porter::string(const Token& token) {
  const std::string_view text = raw(token);
  const std::size_t open = text.find('"');
  if (!options_.strings && open != std::string_view::npos && text.size() >= open + 2) {
    const std::string_view content = text.substr(open + 1, text.size() - open - 2);
    const bool word =
        std::all_of(content.begin(), content.end(), [](char c) { return is_word_byte(static_cast<unsigned char>(c)); });
    if (const NameInfo& info = names_.of(word ? content : ""); info.renamed && to_musa_)
      find("P023", token, std::string(content),
           fmt::format("the string \"{}\" is the name of a function or type: if it is looked up, it must be '{}'",
                       content, info.to),
           info.library);
  }
  words_in(token, options_.strings, result_.in_strings);
}

void Porter::assembly(const Token& token) {
  Lexer ahead = lexer_;
  Token next = ahead.next();
  std::string text;
  int depth = 0;
  bool statement = false;
  Token whole = token;  // to the closing bracket: what has to be replaced
  for (int i = 0; i < 400 && next.kind != TokenKind::kEnd && next.kind != TokenKind::kDirectiveEnd; ++i) {
    if (is(next, "(")) ++depth, statement = true;
    if (depth > 0) whole.end = next.end;
    if (is(next, ")") && --depth <= 0) break;
    if (is(next, ";") || is(next, "{")) break;
    if (next.kind == TokenKind::kString || next.kind == TokenKind::kRawString) text += ahead.raw(next);
    next = ahead.next();
  }
  if (!statement || !to_musa_) return;
  if (!device_ && !text.empty() && !looks_like_ptx(text)) return;
  find("P001", whole, "asm", "inline PTX: mcc cannot assemble it; use an intrinsic, or plain C++");
}

bool is_device_file(std::string_view path) {
  return path.ends_with(".cu") || path.ends_with(".cuh") || path.ends_with(".mu") || path.ends_with(".muh");
}

bool looks_like_ptx(std::string_view text) {
  constexpr std::string_view kSigns[] = {
      ".b16",  ".b32",  ".b64",  ".u16", ".u32", ".u64", ".s16",     ".s32",   ".s64",         ".f16",     ".f32",
      ".f64",  ".pred", ".sync", ".cta", ".gl",  ".sys", "%lane",    "%%lane", "%clock",       "%smid",    "%warpid",
      "trap;", "exit;", ".b8",   ".u8",  ".s8",  ".reg", ".cluster", ".async", "%globaltimer", "nanosleep"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

FileResult port_source(std::string_view text, const std::string& path, const Rules& rules, NameCache& names,
                       const Project& project, const Options& options) {
  return Porter(text, path, rules, names, project, options).run();
}

}  // namespace muscope::port
