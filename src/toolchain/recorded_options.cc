// Options for ptxas as fat binaries record them.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/diagnostic.h"
#include "toolchain/assemble.h"

namespace muscope::toolchain {
namespace {

enum class Effect : std::uint8_t {
  kCode,  ///< changes the code: passed on
  kNone,  ///< messages, line tables, what kind of file is written
};

struct OptionRow {
  std::string_view name, short_name;
  Effect effect;
  bool takes_value;
};

// ptxas 13.0.88 --help. Not here, so that they are refused: what names files (--options-file, --output-file), other
// targets (--gpu-name, --machine), entry points (--entry), or asks for information only.
constexpr OptionRow kRows[] = {
    {"--Ofast-compile", "-Ofc", Effect::kCode, true},
    {"--allow-expensive-optimizations", "-allow-expensive-optimizations", Effect::kCode, true},
    {"--compile-only", "-c", Effect::kNone, false},
    {"--compiler-annotations", "-annotate", Effect::kNone, false},
    {"--def-load-cache", "-dlcm", Effect::kCode, true},
    {"--def-store-cache", "-dscm", Effect::kCode, true},
    {"--device-debug", "-g", Effect::kCode, false},
    {"--device-function-maxrregcount", "-func-maxrregcount", Effect::kCode, true},
    {"--device-stack-protector", "-device-stack-protector", Effect::kCode, true},
    {"--disable-optimizer-constants", "-disable-optimizer-consts", Effect::kCode, false},
    {"--disable-warnings", "-w", Effect::kNone, false},
    {"--dont-merge-basicblocks", "-no-bb-merge", Effect::kCode, false},
    {"--extensible-whole-program", "-ewp", Effect::kCode, false},
    {"--fmad", "-fmad", Effect::kCode, true},
    {"--force-load-cache", "-flcm", Effect::kCode, true},
    {"--force-store-cache", "-fscm", Effect::kCode, true},
    {"--g-tensor-memory-access-check", "-g-tmem-access-check", Effect::kCode, false},
    {"--generate-line-info", "-lineinfo", Effect::kNone, false},
    {"--gno-tensor-memory-access-check", "-gno-tmem-access-check", Effect::kCode, false},
    {"--legacy-bar-warp-wide-behavior", "-legacy-bar-warp-wide-behavior", Effect::kCode, false},
    {"--make-errors-visible-at-exit", "-make-errors-visible-at-exit", Effect::kCode, false},
    {"--maxntid", "-maxntid", Effect::kCode, true},
    {"--maxrregcount", "-maxrregcount", Effect::kCode, true},
    {"--minnctapersm", "-minnctapersm", Effect::kCode, true},
    {"--opt-level", "-O", Effect::kCode, true},
    {"--optimize-float-atomics", "-opt-fp-atomics", Effect::kCode, false},
    {"--override-directive-values", "-override-directive-values", Effect::kCode, false},
    {"--position-independent-code", "-pic", Effect::kCode, true},
    {"--preserve-relocs", "-preserve-relocs", Effect::kNone, false},
    {"--register-usage-level", "-regUsageLevel", Effect::kCode, true},
    {"--return-at-end", "-ret-end", Effect::kCode, false},
    {"--sp-bounds-check", "-sp-bounds-check", Effect::kCode, false},
    {"--split-compile", "-split-compile", Effect::kNone, true},
    {"--suppress-async-bulk-multicast-advisory-warning", "-suppress-async-bulk-multicast-advisory-warning",
     Effect::kNone, false},
    {"--suppress-debug-info", "-suppress-debug-info", Effect::kNone, false},
    {"--suppress-double-demote-warning", "-suppress-double-demote-warning", Effect::kNone, false},
    {"--suppress-sparse-mma-advisory-info", "-suppress-sparse-mma-advisory-info", Effect::kNone, false},
    {"--suppress-stack-size-warning", "-suppress-stack-size-warning", Effect::kNone, false},
    {"--verbose", "-v", Effect::kNone, false},
    {"--warn-on-double-precision-use", "-warn-double-usage", Effect::kNone, false},
    {"--warn-on-local-memory-usage", "-warn-lmem-usage", Effect::kNone, false},
    {"--warn-on-spills", "-warn-spills", Effect::kNone, false},
    {"--warning-as-error", "-Werror", Effect::kNone, false},
};

/// ptxas takes every long name with one dash too.
const OptionRow* find_row(std::string_view name) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows), [&](const OptionRow& row) {
    return name == row.name || name == row.name.substr(1) || name == row.short_name;
  });
  return found == std::end(kRows) ? nullptr : found;
}

bool is_optimisation_level(std::string_view word) {
  return word.size() == 3 && word.starts_with("-O") && word[2] >= '0' && word[2] <= '9';
}

}  // namespace

RecordedOptions read_recorded_options(const std::string& text) {
  RecordedOptions result;
  std::vector<std::string> words;
  try {
    words = split_words(text);
  } catch (const Error&) {
    result.problem = text;
    return result;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (is_optimisation_level(word)) {
      result.words.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const OptionRow* row = find_row(std::string_view(word).substr(0, equals));
    const bool value_apart = row != nullptr && row->takes_value && equals == word.npos;
    const bool has_value = !value_apart || (i + 1 < words.size() && !words[i + 1].starts_with('-'));
    if (row == nullptr || !has_value || (!row->takes_value && equals != word.npos)) {
      result.problem = word;
      return result;
    }
    const std::string value = value_apart ? words[++i] : equals == word.npos ? std::string() : word.substr(equals + 1);
    if (row->effect == Effect::kNone) continue;
    result.words.push_back(std::string(row->name) + (row->takes_value ? "=" + value : std::string()));
  }
  return result;
}

}  // namespace muscope::toolchain
