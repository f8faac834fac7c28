// muscope completion: scripts for bash, zsh and fish, made from the list of commands and the list of GPUs.
//
// Options are not listed in the scripts: they ask `muscope COMMAND --help` when a word begins with '-', so that they
// are those of the installed muscope; so are the topics of `muscope explain` and the names of metrics.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "arch/gpu_spec.h"
#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

constexpr std::string_view kHelp =
    R"sh(Print a shell completion script.

Usage: muscope completion bash|zsh|fish

Examples:
  muscope completion bash > ~/.local/share/bash-completion/completions/muscope
  muscope completion zsh > "${fpath[1]}/_muscope"
  muscope completion fish > ~/.config/fish/completions/muscope.fish
)sh";

constexpr std::string_view kBash = R"sh(# bash completion for muscope
_muscope_options() { @OPTIONS_OF@; }
_muscope_topics() { @TOPICS@; }
_muscope() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} values=
  # "--gpu=a" comes as three words.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  case $before in
@VALUES@  esac
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '@COMMANDS@ --help --version' -- "$word"))
  elif [[ $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
  elif [[ $before == --metrics || (${COMP_WORDS[1]} == explain && $word != -*) ]]; then
    COMPREPLY=($(compgen -W "$(_muscope_topics)" -- "$word"))
  elif [[ $before == --gpu || (${COMP_WORDS[1]} == gpu && $word != -*) ]]; then
    COMPREPLY=($(compgen -W '@GPUS@' -- "$word"))
  elif [[ ${COMP_WORDS[1]} == completion ]]; then
    COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$(_muscope_options "${COMP_WORDS[1]}")" -- "$word"))
  else
    local IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _muscope muscope
)sh";

constexpr std::string_view kZsh = R"sh(#compdef muscope
_muscope_options() { @OPTIONS_OF@ }
_muscope_topics() { @TOPICS@ }
_muscope() {
  local -a known
  local values=
  known=(
@COMMANDS@  )
  case $words[CURRENT-1] in
@VALUES@  esac
  if ((CURRENT == 2)); then
    _describe command known
  elif [[ -n $values ]]; then
    compadd -- ${=values}
  elif [[ $words[CURRENT-1] == --metrics || ( $words[2] == explain && $PREFIX != -* ) ]]; then
    compadd -- $(_muscope_topics)
  elif [[ $words[CURRENT-1] == --gpu || ( $words[2] == gpu && $PREFIX != -* ) ]]; then
    compadd -- @GPUS@
  elif [[ $words[2] == completion ]]; then
    compadd -- bash zsh fish
  elif [[ $PREFIX == -* ]]; then
    compadd -- $(_muscope_options $words[2])
  else
    _files
  fi
}
if [[ $funcstack[1] == _muscope ]]; then _muscope "$@"; else compdef _muscope muscope; fi
)sh";

constexpr std::string_view kFish = R"sh(# fish completion for muscope
function __muscope_options
  set -l words (commandline -opc)
  test (count $words) -gt 1; and muscope $words[2] --help 2>/dev/null | @OPTION_WORDS@
end
function __muscope_topics
  @TOPICS@
end
@COMMANDS@complete -c muscope -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__muscope_options)'
complete -c muscope -n '__fish_seen_subcommand_from gpu; or string match -q -- --gpu (commandline -opc)[-1]' -f -a '@GPUS@'
@VALUES@complete -c muscope -n '__fish_seen_subcommand_from explain; or string match -q -- --metrics (commandline -opc)[-1]' -f -a '(__muscope_topics)'
complete -c muscope -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
)sh";

/// Option names in a --help text: at the beginning of a line, perhaps after a short name. Examples name other
/// programs'.
constexpr std::string_view kOptionWords =
    R"sh(grep -oE '^ +(-[a-z],)?--[a-z][a-z0-9-]*' | grep -oE -- '--.*' | sort -u)sh";
constexpr std::string_view kOptionsOf = R"sh(muscope "$1" --help 2>/dev/null | )sh";

/// Names in `muscope explain --all`: the first word of a line, nvprof's name at its end, and rows of instructions.
constexpr std::string_view kTopics = R"sh(muscope explain --all 2>/dev/null | awk '
  /^  [a-z0-9]+(  [a-z0-9]+)+$/ { for (i = 1; i <= NF; ++i) print $i; next }
  /^  [^ ]/ { sub(/:$/, "", $1); print $1; if (sub(/.*nvprof: /, "")) { sub(/\)$/, ""); print } }')sh";

/// Options that take one of a few words.
struct ValueList {
  std::string_view option, values;
};
constexpr ValueList kValues[] = {
    {"--view", "lines kernels sass"},
    {"--count-from", "auto ptx sass"},
    {"--profile-from-start", "on off"},
    {"--sort", "traffic waste requests name order"},
    {"--emit", "ptx kernels"},
    {"--toolchain", "nvcc clang auto"},
    {"--space", "global shared const local"},
    {"--op", "LD LD_CG LD_NC ST RED ATOM"},
    {"--l1", "on off"},
    {"--to", "musa cuda"},
    {"--arch", "mp_21 mp_22 mp_31"},
};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// Without the one character that would end a single-quoted text, in all three shells.
std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\'') out += c;
  }
  return out;
}

/// `values`: how the shell writes that an option takes these words.
std::string filled(std::string_view script, const std::string& commands, std::string (*values)(const ValueList& list)) {
  std::string text(script), lists;
  for (const ValueList& list : kValues) lists += values(list);
  for (const auto& [mark, value] : {std::pair<std::string_view, std::string>{"@COMMANDS@", commands},
                                    {"@GPUS@", joined(arch::gpu_names())},
                                    {"@OPTIONS_OF@", fmt::format("{}{}", kOptionsOf, kOptionWords)},
                                    {"@OPTION_WORDS@", std::string(kOptionWords)},
                                    {"@TOPICS@", std::string(kTopics)},
                                    {"@VALUES@", lists}}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string case_line(const ValueList& list) {
  return fmt::format("    {}) values='{}' ;;\n", list.option, list.values);
}

std::string fish_line(const ValueList& list) {
  return fmt::format("complete -c muscope -n 'string match -q -- {} (commandline -opc)[-1]' -f -a '{}'\n", list.option,
                     list.values);
}

std::string bash_script() {
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(c.name);
  return filled(kBash, joined(names), case_line);
}

std::string zsh_script() {
  std::string list;
  for (const Command& c : commands()) {
    // A colon separates name and description.
    std::string summary;
    for (const char ch : quotable(c.summary)) summary += ch == ':' ? std::string("\\:") : std::string(1, ch);
    list += fmt::format("    '{}:{}'\n", c.name, summary);
  }
  return filled(kZsh, list, case_line);
}

std::string fish_script() {
  std::string list;
  for (const Command& c : commands()) {
    list += fmt::format("complete -c muscope -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name, quotable(c.summary));
  }
  return filled(kFish, list, fish_line);
}

}  // namespace

int completion_command(const Arguments& args) {
  const std::string shell = args.size() == 1 ? args.front() : "";
  std::string script;
  if (shell == "--help" || shell == "-h") {
    script = kHelp;
  } else if (shell == "bash") {
    script = bash_script();
  } else if (shell == "zsh") {
    script = zsh_script();
  } else if (shell == "fish") {
    script = fish_script();
  } else {
    fail("D101", args.empty() ? "which shell?" : fmt::format("no completion for '{}'", fmt::join(args, " ")),
         "muscope completion bash, zsh or fish");
  }
  std::fwrite(script.data(), 1, script.size(), stdout);
  return kOk;
}

}  // namespace muscope::cli
