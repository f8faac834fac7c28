# Part of ./dev: which machine this is, and what has to be installed for a command.

say() { echo "dev: $*" >&2; }

require_machine() {
  local system machine
  system=$(uname -s)
  machine=$(uname -m)
  if [[ $system != Linux || $machine != x86_64 ]]; then
    say "this machine is $system on $machine. muscope needs x86-64 Linux: it runs the host part of CUDA programs natively."
    exit 3
  fi
}

# Lines: group | package | test | reason. The test is a command (cmd:NAME, several with commas: any of them), a module
# of Python (py:NAME) or a file
# (any of several, patterns allowed), so that tools that did not come from a package count too.
package_table() {
  cat <<'TABLE'
build|g++|cmd:g++|compiles muscope (C++20)
build|cmake|cmd:cmake|configures the build
build|ninja-build|cmd:ninja|runs the build
build|libfmt-dev|/usr/include/fmt/format.h|formats text (linked in)
build|libcli11-dev|/usr/include/CLI/CLI.hpp|reads the command line
build|nlohmann-json3-dev|/usr/include/nlohmann/json.hpp|reads and writes JSON
build|libtomlplusplus-dev|/usr/include/toml++/toml.h|reads budget files
build|libzstd-dev|/usr/include/zstd.h|decompresses fat binaries
build|liblz4-dev|/usr/include/lz4.h|decompresses fat binaries
build|libxxhash-dev|/usr/include/xxhash.h|names cached results by content
clang|clang-19|cmd:clang++-22,clang++-21,clang++-20,clang++-19|compiles .cu files for muscope: no CUDA toolkit needed
test|libgtest-dev|/usr/include/gtest/gtest.h|unit tests
test|libgmock-dev|/usr/include/gmock/gmock.h|unit tests
test|python3|cmd:python3|test scripts
test|python3-jsonschema|py:jsonschema|checks SARIF files
test|make|cmd:make|projects of the tests that are built with make and CMake
test|llvm-19-tools|/usr/lib/llvm-*/bin/FileCheck|checks output against expectations (FileCheck)
web|nodejs|cmd:node|tests of the HTML report's page
web|npm|cmd:npm|tests of the HTML report's page
browser|chromium|cmd:chromium,chromium-browser,google-chrome|opens HTML reports in tests
sanitize|libclang-rt-19-dev|/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a,/usr/lib/llvm-19/lib/clang/19/lib/x86_64-pc-linux-gnu/libclang_rt.fuzzer.a|fuzzing with coverage guidance (libFuzzer)
sanitize|clang-19|cmd:clang++-19|compiles the fuzz targets
bench|libbenchmark-dev|/usr/include/benchmark/benchmark.h|benchmarks
package|dpkg-dev|cmd:dpkg-shlibdeps|finds what the package depends on
package|file|cmd:file|used by dpkg-shlibdeps
lint|clang-format-19|cmd:clang-format-19|formatting
lint|clang-tidy-19|cmd:clang-tidy-19|static analysis
TABLE
}

is_present() {  # is_present TEST
  local test=$1 one
  local -a any
  if [[ $test == py:* ]]; then
    python3 -c "import ${test#py:}" > /dev/null 2>&1
    return
  fi
  if [[ $test == cmd:* ]]; then
    IFS=, read -ra any <<< "${test#cmd:}"
    for one in "${any[@]}"; do command -v "$one" > /dev/null && return 0; done
  else
    IFS=, read -ra any <<< "$test"
    for one in "${any[@]}"; do compgen -G "$one" > /dev/null && return 0; done
  fi
  return 1
}

distribution() { (. /etc/os-release 2> /dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || echo unknown; }

# Sets root_prefix to what makes a command run as root; fails when nothing does.
as_root_command() {
  root_prefix=()
  ((EUID == 0)) && return 0
  # Asking for a password needs someone at a terminal.
  command -v sudo > /dev/null && { [[ -t 0 ]] || sudo -n true 2> /dev/null; } || return 1
  root_prefix=(sudo)
}

# wish_packages GROUP...: the same, but goes on without them; tests that need them are skipped and say so.
wish_packages() {
  (require_packages "$@") || say "going on without: $*"
}

# require_packages GROUP...: installs what is missing of these groups, or says how and exits with 3.
require_packages() {
  local group package test reason
  local -a missing=()
  while IFS='|' read -r group package test reason; do
    [[ " $* " == *" $group "* ]] || continue
    is_present "$test" && continue
    [[ " ${missing[*]-} " == *" $package "* ]] && continue
    missing+=("$package")
    say "missing: $package ($reason)"
  done < <(package_table)
  ((${#missing[@]})) || return 0

  local install="apt-get install -y --no-install-recommends ${missing[*]}"
  local known
  known=$(distribution)
  if ! command -v apt-get > /dev/null; then
    say "this system ($known) has no apt-get. ./dev installs on Debian 12 and Ubuntu 24.04; elsewhere install what these"
    say "packages hold with your package manager and start again: ${missing[*]}"
    exit 3
  fi
  case $known in
    "debian 12" | "ubuntu 24.04") ;;
    *) say "note: $known was not tested; ./dev is made for Debian 12 and Ubuntu 24.04" ;;
  esac
  local -a root_prefix=()
  if ! as_root_command; then
    say "installing needs root and there is no sudo. Run as root:"
    echo "  apt-get update && $install" >&2
    exit 3
  fi
  mkdir -p build
  say "installing: ${missing[*]}  (log: build/install.log)"
  # Lists older than the packages' last change make apt-get fail; a fresh container has none at all.
  if ! "${root_prefix[@]}" apt-get update > build/install.log 2>&1 ||
    ! "${root_prefix[@]}" env DEBIAN_FRONTEND=noninteractive $install >> build/install.log 2>&1 < /dev/null; then
    tail -15 build/install.log >&2
    say "the installation failed. The command was:"
    echo "  ${root_prefix[*]-} apt-get update && ${root_prefix[*]-} $install" >&2
    exit 3
  fi
}
