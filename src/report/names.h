// The words that JSON and CSV use for enumerations, and back.
#pragma once

#include <optional>
#include <string_view>

#include "report/report.h"

namespace muscope::report {

// "counted", "modelled", "estimated" are name_of(Grade) in report.h; spaces and kinds:
std::string_view word_of(trace::Space space);          ///< "global", "shared", "local", "const", "texture", "surface"
std::string_view word_of(trace::Kind kind);            ///< "load", "store", "red", "atom", "matrix load", ...
std::string_view word_of(views::CodeChangeKind kind);  ///< "joined", "part of", ...
std::string_view word_of(views::LocalUse use);         ///< "none", "array", "spill", "saved"
std::string_view word_of(views::LaunchState state);    ///< "finished", "faulted", "stopped"
std::string_view word_of(views::TransferKind kind);    ///< "host to device", ...
std::string_view word_of(views::HostMemory memory);    ///< "pageable", ...; "none"
std::string_view word_of(Severity severity);           ///< "note", "warning", "error"

/// The value of that word, of those that word_of and name_of give.
template <typename Enum>
std::optional<Enum> enum_of(std::string_view word);
template <>
std::optional<Grade> enum_of(std::string_view word);
template <>
std::optional<trace::Space> enum_of(std::string_view word);
template <>
std::optional<trace::Kind> enum_of(std::string_view word);
template <>
std::optional<views::CodeChangeKind> enum_of(std::string_view word);
template <>
std::optional<views::LocalUse> enum_of(std::string_view word);
template <>
std::optional<views::LaunchState> enum_of(std::string_view word);
template <>
std::optional<views::TransferKind> enum_of(std::string_view word);
template <>
std::optional<views::HostMemory> enum_of(std::string_view word);
template <>
std::optional<Severity> enum_of(std::string_view word);

}  // namespace muscope::report
