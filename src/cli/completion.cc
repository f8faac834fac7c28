// muscope completion: scripts for bash, zsh and fish, made from the list of commands and the list of GPUs.
//
// Options are not listed in the scripts: they ask `muscope COMMAND --help` when a word begins with '-', so that they
// are those of the installed muscope.
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
_muscope_options() { muscope "$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u; }
_muscope() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '@COMMANDS@ --help --version' -- "$word"))
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
_muscope_options() { muscope "$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u }
_muscope() {
  local -a known
  known=(
@COMMANDS@  )
  if ((CURRENT == 2)); then
    _describe command known
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
  test (count $words) -gt 1; and muscope $words[2] --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
end
@COMMANDS@complete -c muscope -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__muscope_options)'
complete -c muscope -n '__fish_seen_subcommand_from gpu; or string match -q -- --gpu (commandline -opc)[-1]' -f -a '@GPUS@'
complete -c muscope -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
)sh";

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

// Without the one character that would end a single-quoted text, in all three shells.
std::string quotable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '\'') out += c;
  }
  return out;
}

std::string filled(std::string_view script, const std::string& commands) {
  std::string text(script);
  for (const auto& [mark, value] :
       {std::pair<std::string_view, std::string>{"@COMMANDS@", commands}, {"@GPUS@", joined(arch::gpu_names())}}) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += value.size())
      text.replace(at, mark.size(), value);
  }
  return text;
}

std::string bash_script() {
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(c.name);
  return filled(kBash, joined(names));
}

std::string zsh_script() {
  std::string list;
  for (const Command& c : commands()) {
    // A colon separates name and description.
    std::string summary;
    for (const char ch : quotable(c.summary)) summary += ch == ':' ? std::string("\\:") : std::string(1, ch);
    list += fmt::format("    '{}:{}'\n", c.name, summary);
  }
  return filled(kZsh, list);
}

std::string fish_script() {
  std::string list;
  for (const Command& c : commands()) {
    list += fmt::format("complete -c muscope -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name, quotable(c.summary));
  }
  return filled(kFish, list);
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
