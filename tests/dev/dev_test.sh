#!/usr/bin/env bash
# ./dev itself: refusals, what is asked for, how failures and skipped tests are shown. Nothing is installed or built.
set -u
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() {  # check WHAT EXPECTED-PATTERN TEXT
  if [[ $3 != *"$2"* ]]; then
    echo "FAIL: $1: expected '$2' in:"
    echo "$3"
    failures=$((failures + 1))
  fi
}
check_status() {  # check_status WHAT EXPECTED ACTUAL
  [[ $2 == "$3" ]] || { echo "FAIL: $1: exit code $3, expected $2"; failures=$((failures + 1)); }
}

out=$("$root/dev" help); check_status "help" 0 $?
for command in demo build test bench format lint clean package; do check "help names $command" "  $command " "$out"; done
out=$("$root/dev" frob 2>&1); check_status "unknown command" 2 $?
check "unknown command" "unknown command 'frob'" "$out"
out=$("$root/dev" test --frob 2>&1); check_status "unknown option" 2 $?

# Another machine.
printf '#!/bin/sh\n[ "$1" = -m ] && echo aarch64 || echo Linux\n' > "$work/uname"
chmod +x "$work/uname"
out=$(PATH="$work:$PATH" "$root/dev" build 2>&1); check_status "wrong machine" 3 $?
check "wrong machine" "needs x86-64 Linux" "$out"

# A missing package, with an apt-get that notes how it was called.
missing() {  # missing COMMAND-BEFORE
  (
    cd "$work" || exit 9
    source "$root/tools/dev/packages.sh"
    package_table() { echo "build|no-such-package|cmd:no-such-command-anywhere|needed for this test"; }
    export PATH="$work/bin:$PATH"
    eval "$1"
    require_packages build
    echo "went on"
  ) 2>&1
}
mkdir -p "$work/bin"
printf '#!/bin/sh\necho "$@" >> %s/called\n' "$work" > "$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
out=$(missing 'as_root_command() { root_prefix=(); }'); check_status "installing" 0 $?
check "says what and why" "missing: no-such-package (needed for this test)" "$out"
check "goes on" "went on" "$out"
called=$(cat "$work/called" 2> /dev/null)
check "updates the lists" "update" "$called"
check "installs" "install -y --no-install-recommends no-such-package" "$called"
out=$(missing 'as_root_command() { return 1; }'); check_status "no root" 3 $?
check "shows the command" "apt-get install -y --no-install-recommends no-such-package" "$out"
printf '#!/bin/sh\nexit 100\n' > "$work/bin/apt-get"
out=$(missing 'as_root_command() { root_prefix=(); }'); check_status "failing apt-get" 3 $?
check "failing apt-get" "the installation failed" "$out"

# What is only wished for does not stop the command.
out=$(
  cd "$work" && source "$root/tools/dev/packages.sh"
  package_table() { echo "web|no-such-package|cmd:no-such-command-anywhere|needed for this test"; }
  as_root_command() { return 1; }
  wish_packages web 2>&1
  echo "went on"
)
check "wished packages" "going on without: web" "$out"
check "wished packages" "went on" "$out"

# Present things are not asked for.
source "$root/tools/dev/packages.sh"
is_present cmd:no-such-command,bash || { echo "FAIL: bash is present"; failures=$((failures + 1)); }
is_present "/no/such/file,$root/de*" || { echo "FAIL: dev is present"; failures=$((failures + 1)); }
is_present cmd:no-such-command && { echo "FAIL: no-such-command is not present"; failures=$((failures + 1)); }

# Skipped tests with their reasons.
source "$root/tools/dev/build.sh"
mkdir -p "$work/build/release/Testing/Temporary"
cat > "$work/test.log" << 'LOG'
1/3 Test #1: base.A ...........................   Passed    0.01 sec
2/3 Test #2: gpu.Needs/1 ......................***Skipped   0.01 sec
3/3 Test #3: tool .............................***Skipped   0.01 sec
LOG
cat > "$work/build/release/Testing/Temporary/LastTest.log" << 'LOG'
1/3 Testing: base.A
Output:
/x.cc:1: Skipped
not this one
<end of output>
2/3 Testing: gpu.Needs/1
Output:
/x.cc:2: Skipped
needs a GPU
<end of output>
3/3 Testing: tool
Output:
SKIPPED: ptxas was not found
<end of output>
LOG
out=$(cd "$work" && list_skipped release test.log)
check "skipped, GoogleTest" "  gpu.Needs/1: needs a GPU" "$out"
check "skipped, CMake" "  tool: ptxas was not found" "$out"
[[ $out != *"not this one"* ]] || { echo "FAIL: base.A was not skipped"; failures=$((failures + 1)); }

# Progress where there is no terminal: about ten lines.
out=$(for i in $(seq 1 200); do echo "[$i/200] Building x.cc"; done | show_progress building 2>&1)
check "progress" "dev: building 200/200" "$out"
[[ $(wc -l <<< "$out") -le 11 ]] || { echo "FAIL: too many lines of progress"; failures=$((failures + 1)); }

((failures == 0)) && echo "all fine"
exit $((failures > 0))
