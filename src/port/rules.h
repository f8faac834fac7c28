// The rules of `muscope port`: the tables of data/port, read once. A table is lines of tab-separated fields:
//
//   library  NAME
//   gate     PATTERN  BACK                   names of this library, renamed by the replacements; BACK matches the
//   result name     FROM     TO       [one-way]     a name the replacements get wrong header   FROM     TO [one-way] a
//   header; TO "=": by the replacements; both may end in /* replace  FROM     TO                     within a name that
//   passed a gate guard    FROM     TO       BEFORE AFTER  the same with conditions on what stands around it report
//   PATTERN  CODE     WHEN   TEXT   a finding wherever such a name is used missing  HEADER   CODE     WHEN   TEXT   a
//   finding wherever such a header is included suspect  PATTERN  BACK                   looks like a CUDA name (BACK: a
//   MUSA name); reported where it stays wrong    NAME     TEXT                   a MUSA name that does not exist, and
//   what is meant seen     NAME     WHERE                  a MUSA name that a public MUSA program uses code     CODE
//   SEVERITY TITLE         a kind of finding arch     CUDA     MUSA                   from this compute capability
//   (times 10) on, that value of __MUSA_ARCH__ word     FROM     TO       [one-way]     in build files: a variable,
//   command, target or path flag     FROM     TO       WHERE  TEXT   an option of nvcc; TO empty: it is taken away;
//   TEXT empty: no finding
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "port/pattern.h"

namespace muscope::port {

enum class Direction { kToMusa, kToCuda };

/// What the result is for: findings depend on it.
struct Target {
  Direction direction = Direction::kToMusa;
  int sdk = 502;                       ///< MUSA SDK: 100 * major + minor
  std::vector<int> archs{21, 22, 31};  ///< mp_21 ...
};

/// "sdk<4.2,arch<31": holds when each part does; arch when it does for one of the target's.
class Condition {
 public:
  /// Throws Error D781 for what is not understood.
  explicit Condition(std::string_view text);
  bool holds(const Target& target) const;

 private:
  struct Part {
    bool arch = false;
    char op = '<';  ///< '<' or 'g' (at least)
    int value = 0;
  };
  std::vector<Part> parts_;
};

struct Report {
  Pattern pattern;
  std::string code, text, library;
  Condition when;
};

struct CodeInfo {
  std::string code, title;
  Severity severity = Severity::kWarning;
};

/// What the rules say about one name in one direction.
struct NameInfo {
  bool renamed = false;
  bool one_way = false;   ///< the way back does not lead to the same name
  bool by_rule = false;   ///< not an entry of its own
  bool seen = false;      ///< the MUSA name is used by a public MUSA program
  bool suspect = false;   ///< looks like a name of the language that is left, and is not renamed
  bool foreign = false;   ///< a name of the language that is gone to
  bool doubtful = false;  ///< to MUSA: looks like a name of MUSA, and is none that is known
  std::string wrong;      ///< what is meant instead, when that is known
  std::string to;
  std::string library;
  std::vector<const Report*> reports;

  bool plain() const { return !renamed && !suspect && !foreign && !doubtful && reports.empty(); }
};

struct HeaderInfo {
  bool renamed = false, one_way = false, foreign = false;
  std::string to, library;
  std::vector<const Report*> reports;
};

struct Flag {
  std::string from, to, where, text, library;
};

/// One table: its file's name, for messages, and its text.
struct RuleText {
  std::string_view name, text;
};

class Rules {
 public:
  /// Throws Error D781 with file and line for a table that is not well-formed.
  explicit Rules(std::span<const RuleText> tables);

  NameInfo name(std::string_view name, Direction direction) const;
  HeaderInfo header(std::string_view path, Direction direction) const;
  /// A word of a build file; empty when nothing is known of it.
  std::string word(std::string_view word, Direction direction) const;
  const std::vector<Flag>& flags() const { return flags_; }
  /// What `__CUDA_ARCH__ OP value` is to be compared with in MUSA (or the other way); 0: nothing corresponds.
  /// `at_least`: for >= and <, which ask for a card of at least that value; else for >, <= and ==.
  int arch_value(int value, Direction direction, bool at_least = false) const;
  const CodeInfo& code(std::string_view code) const;
  const std::vector<CodeInfo>& codes() const { return codes_; }
  const std::vector<std::string>& libraries() const { return libraries_; }

 private:
  struct Gate {
    Pattern from, back;
    std::string library;
  };
  struct Entry {
    std::string to, library;
    bool one_way = false;
  };
  struct Replacement {
    std::string from, to, before, after;
  };
  struct Missing {
    Report report;
  };
  using Names = std::unordered_map<std::string, Entry>;
  struct HeaderFamily {
    std::string from, to, library;
  };

  void read(const RuleText& table);
  void read_row(const std::vector<std::string>& fields, const std::string& library, const SourceLocation& where);
  void add_header(const std::vector<std::string>& fields, const std::string& library);
  std::string replaced(std::string_view name, Direction direction) const;

  std::vector<Gate> gates_;
  std::vector<Replacement> replacements_;
  std::unordered_map<std::string, std::string> wrong_;
  Names names_, names_back_, headers_, headers_back_, words_, words_back_;
  std::vector<HeaderFamily> header_families_;
  std::vector<std::pair<std::vector<std::string>, std::string>> regular_headers_;  ///< rows and their libraries
  std::vector<Report> reports_, missing_;
  std::vector<std::pair<Pattern, Pattern>> suspects_;
  std::unordered_set<std::string> seen_;
  std::vector<CodeInfo> codes_;
  std::vector<std::pair<int, int>> archs_;
  std::vector<Flag> flags_;
  std::vector<std::string> libraries_;
};

}  // namespace muscope::port
