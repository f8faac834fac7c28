// What muscope says when something is wrong with its input, its surroundings or the emulated program.
//
//   error D301: unknown PTX instruction 'fooble.u32'
//     at kernel.ptx:41
//     help: assemble with a PTX version that muscope knows (see muscope explain ptx)
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muscope {

enum class Severity { kNote, kWarning, kError };

/// A place in a file. Lines and columns count from 1; 0 means "not known".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One message. `code` is a letter and three digits ("D301") and has a page: `muscope explain D301`,
/// kept in docs/explain/D301.md. Ranges: D1 command line and files, D2 binaries, D3 PTX, D4 toolchain,
/// D5 runtime API, D6 execution, D7 reports.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;
  std::string text;      ///< one sentence, no full stop: what is wrong and with what
  SourceLocation where;  ///< may be empty
  std::string hint;      ///< what to do about it; may be empty
};

/// The text of a diagnostic, as above, without colour. Ends with a newline.
std::string to_text(const Diagnostic& diagnostic);

/// Thrown where muscope cannot go on because of its input or surroundings. Caught in cli/main and at the
/// C ABI of the runtime, nowhere else.
class Error : public std::exception {
 public:
  explicit Error(Diagnostic diagnostic);
  explicit Error(std::vector<Diagnostic> diagnostics);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// Throws an Error with one diagnostic of severity error.
[[noreturn]] void fail(std::string_view code, std::string text, std::string hint = {}, SourceLocation where = {});

}  // namespace muscope
