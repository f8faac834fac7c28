// The options of nvcc 13.0, one row each, and what muscope does with them.
#pragma once

#include <span>
#include <string_view>

namespace muscope::toolchain {

/// What follows an option.
enum class Arity {
  kNone,
  kValue,   ///< "-o x", "-o=x"
  kJoined,  ///< "-Idir", "-I dir", "-I=dir": short names whose value may follow directly
  kBool,    ///< "-ftz=true", "-ftz true"
};

/// What muscope does with an option.
enum class Action {
  // Steps
  kStepObject,
  kStepRelocatableObject,
  kStepPreprocess,
  kStepPtx,
  kStepDeviceLink,
  kStepArchive,
  kStepShared,
  kStepLink,
  kVersion,
  kHelp,
  kListCode,
  // Files
  kOutputFile,
  kOutputDirectory,
  kLanguage,
  kOptionsFile,
  // Preprocessor and language
  kInclude,
  kSystemInclude,
  kPreInclude,
  kDefine,
  kUndefine,
  kStandard,
  kDependenciesOnly,
  kUserDependenciesOnly,
  kDependencies,
  kUserDependencies,
  kDependencyFile,
  kDependencyTarget,
  kDependencyPhony,
  // Code generation
  kOptimize,
  kDebug,
  kDeviceDebug,
  kLineInfo,
  kArchitecture,
  kCode,
  kGencode,
  kMusaArchitecture,
  kMaxRegisters,
  kFastMath,
  kFlushDenormals,
  kPreciseDivision,
  kPreciseSqrt,
  kContract,
  kRelocatable,
  kRestrict,
  kDefaultStream,
  // Other programs
  kHostOptions,
  kLinkerOptions,
  kPtxasOptions,
  kLibrary,
  kLibraryPath,
  kRuntime,
  kHostCompiler,
  kForwardUnknown,
  // Messages
  kVerbose,
  kDryRun,
  kNoWarnings,
  kWarningsAsErrors,
  // Groups
  kAccept,      ///< harmless: taken in silence
  kAcceptNote,  ///< taken without effect: says so (D409) with the row's text
  kRefuse,      ///< D407 with the row's text as what to do
};

struct OptionRow {
  std::string_view long_name;   ///< "--gpu-architecture"
  std::string_view short_name;  ///< "-arch"
  Arity arity;
  Action action;
  std::string_view text = {};  ///< for kAcceptNote and kRefuse
};

std::span<const OptionRow> option_table();

}  // namespace muscope::toolchain
