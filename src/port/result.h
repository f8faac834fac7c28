// What porting one file gives: the changes, the findings, the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace muscope::port {

enum class EditKind { kName, kHeader, kArch, kBuild };

/// Bytes [begin, end) of the text become `text`. Edits of a file are in order and do not overlap.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
  EditKind kind = EditKind::kName;
};

struct Finding {
  std::string code;  ///< "P001"
  Severity severity = Severity::kWarning;
  std::string name;     ///< the name it is about; may be empty
  std::string text;     ///< one sentence
  std::string library;  ///< of the name; may be empty
  std::size_t begin = 0, end = 0;
  /// From 1; columns count characters. Lines and columns of the text as it was read.
  int line = 0, column = 0, end_line = 0;
  int end_column = 0;  ///< where the finding, or its first line, ends
};

/// One name that was changed.
struct NameUse {
  std::string to, library;
  std::uint64_t count = 0;
  bool by_rule = false, seen = false, one_way = false;
};

struct FileResult {
  std::vector<Edit> edits;
  std::vector<Finding> findings;
  std::map<std::string, NameUse> names;
  std::map<std::string, std::uint64_t> own_names;  ///< of the project, left although they look like CUDA's
  std::uint64_t in_comments = 0, in_strings = 0;   ///< names there that were left
  bool left_alone = false;                         ///< it speaks the language that is gone to
};

/// The text with the edits made.
std::string edited(std::string_view text, const std::vector<Edit>& edits);

/// Lines and columns of findings, from their offsets. `text` is what they are offsets of.
void locate(std::string_view text, std::vector<Finding>& findings);

}  // namespace muscope::port
