# Part of ./dev: configures, builds, tests. Logs: build/<preset>-{configure,build,test}.log.

# Two builds in one folder would get into each other's way: the second waits. The lock ends with this process.
one_at_a_time() {
  command -v flock > /dev/null || return 0
  mkdir -p build
  exec 9> build/lock
  flock -n 9 && return
  say "another ./dev is at work in this folder; waiting for it"
  flock 9
}

# Compilers that run at once: one per core, but no more than memory allows (about 1.2 GB each for the largest files).
jobs_that_fit() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1200000) }' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo $((memory < cores ? memory : cores))
}

# Shows ninja's or ctest's "[12/345]" or "12/345 Test" as one changing line on a terminal, and about ten lines elsewhere.
show_progress() {  # show_progress WHAT < output
  # Not awk: the one that Debian has by default waits for 4 KiB before it looks at a line.
  local what=$1 line all=0 done=0 text tenth=0 shown=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then
      done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]}
    elif [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ Test\ +#[0-9]+:\ ([^ ]+) ]]; then
      done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]}
    else
      continue
    fi
    if [[ -t 2 ]]; then
      printf '\r\033[K%s %d/%d %s' "$what" "$done" "$all" "${text:0:60}" >&2
      shown=1
    elif ((all > 0 && done * 10 / all > tenth)); then
      tenth=$((done * 10 / all))
      echo "dev: $what $done/$all" >&2
    fi
  done
  ((shown == 0)) || printf '\r\033[K' >&2
}

configure_preset() {  # configure_preset PRESET [CMAKE-OPTION...]
  local preset=$1 log=build/$1-configure.log
  shift
  local -a launcher=()
  command -v ccache > /dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  mkdir -p build
  if ! cmake --preset "$preset" "${launcher[@]}" "$@" > "$log" 2>&1; then
    # A cache left by another compiler, generator or place is worth one fresh start.
    if grep -q 'CMakeCache.txt.*different\|does not match the generator\|is different than the directory' "$log"; then
      rm -f "build/$preset/CMakeCache.txt"
      cmake --preset "$preset" "${launcher[@]}" "$@" > "$log" 2>&1 && return 0
    fi
    grep -A12 'CMake Error' "$log" >&2 || tail -20 "$log" >&2
    say "configuring failed; all of it: $log"
    exit 1
  fi
}

build_preset() {  # build_preset PRESET TARGET [CMAKE-OPTION...]
  local preset=$1 target=$2 log=build/$1-build.log
  shift 2
  configure_preset "$preset" "$@"
  local status=0
  # Other targets go on after an error, so that one run shows all errors and a second one has less to do.
  ninja -C "build/$preset" -j "$(jobs_that_fit)" -k 20 "$target" 2>&1 | tee "$log" | show_progress "building ($preset)" || status=${PIPESTATUS[0]}
  if ((status)); then
    # What the compilers said; their command lines are long and say little.
    awk '/^\[[0-9]+\/[0-9]+\]/ { show = 0 } /^FAILED: / { show = 40 } show > 0 && !/^(ccache |\/usr\/bin\/|: && |cd )/ { print; --show }' "$log" |
      head -100 >&2
    say "building failed; all of it: $log"
    exit 1
  fi
}

run_tests() {  # run_tests PRESET [CTEST-OPTION...]
  local preset=$1 log=build/$1-test.log status=0
  shift
  ctest --preset "$preset" --parallel "$(nproc)" "$@" 2>&1 | tee "$log" | show_progress "testing ($preset)" || status=${PIPESTATUS[0]}
  if ((status)); then
    # The output of the tests that failed, and only that.
    awk '
      /^ *Start +[0-9]+: / { next }
      /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { show = /\*\*\*(Failed|Timeout|Exception|Not Run)/ }
      /^[0-9]+% tests passed/ { show = 0 }
      /^The following tests FAILED/ { show = 1 }
      show
    ' "$log" | head -200 >&2
  fi
  list_skipped "$preset" "$log"
  grep -E '^[0-9]+% tests passed' "$log" | sed "s/^/$preset: /" || tail -3 "$log"
  if ((status)); then
    say "tests failed; all of it: $log"
    exit 1
  fi
}

list_skipped() {  # list_skipped PRESET LOG: the tests that did not run, with their reasons
  local names
  names=$(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \(.*[^ .]\) *\.*\*\*\*\(Skipped\|Not Run (Disabled)\).*/\1/p' "$2")
  [[ -n $names ]] || return 0
  echo "skipped:"
  awk -v names="$names" '
    BEGIN { count = split(names, list, "\n"); for (i = 1; i <= count; ++i) wanted[list[i]] = 1 }
    /^[0-9]+\/[0-9]+ Testing: / { sub(/^[0-9]+\/[0-9]+ Testing: /, ""); name = $0; output = 0; next }
    /^Output:/ { output = 1; next }
    /^<end of output>/ { output = 0 }
    !output || !(name in wanted) { next }
    after { reason[name] = $0; after = 0; next }
    /: Skipped$/ { after = 1; next }
    sub(/^.*SKIPPED: /, "") { reason[name] = $0 }
    END {
      for (i = 1; i <= count; ++i) printf "  %s: %s\n", list[i], (list[i] in reason) ? reason[list[i]] : "no reason given"
    }
  ' "build/$1/Testing/Temporary/LastTest.log"
}

run_benchmarks() {
  local found=0 program
  for program in build/release/bench/*; do
    [[ -f $program && -x $program ]] || continue
    found=1
    say "$program"
    "$program"
  done
  ((found)) || say "there are no benchmarks in this checkout"
}

make_packages() {
  local log=build/release-package.log
  if ! (cd build/release && cpack) > "$log" 2>&1; then
    tail -20 "$log" >&2
    say "packaging failed; all of it: $log"
    exit 1
  fi
  ls -l build/release/packages/*.deb build/release/packages/*.tar.gz
}
