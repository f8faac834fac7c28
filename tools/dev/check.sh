# Part of ./dev: formatting and static analysis.

# Our C++ files: the tracked ones, or all when this is not a git checkout.
sources() {  # sources PATTERN...
  if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
    git ls-files -- "$@"
  else
    local pattern
    for pattern in "$@"; do find . -path ./build -prune -o -name "$pattern" -print; done | sed 's|^\./||'
  fi | sort -u
}

format_sources() { sources '*.h' '*.cc' '*.cu' '*.cuh' '*.mu' | xargs -r clang-format-19 -i; }

check_format() {
  local log=build/format.log
  if ! sources '*.h' '*.cc' '*.cu' '*.cuh' '*.mu' | xargs -r -P "$(nproc)" -n 20 clang-format-19 --dry-run -Werror > "$log" 2>&1; then
    grep -o '^[^:]*:[0-9]*:[0-9]*: error' "$log" | cut -d: -f1 | sort | uniq -c | head -30 >&2
    say "these files are not formatted (number of places on the left); ./dev format repairs them"
    exit 1
  fi
  say "formatting: fine"
}

# clang-tidy over src/; a file that passed is not looked at again until something that it includes changes (tidy.py).
run_tidy() {
  local log=build/tidy.log status=0
  python3 tools/dev/tidy.py build/release build/tidy 2> "$log" | show_progress clang-tidy || status=1
  if ((status)); then
    head -100 "$log" >&2
    say "clang-tidy found something; all of it: $log"
    exit 1
  fi
  say "clang-tidy: fine"
}
