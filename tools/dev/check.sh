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

# clang-tidy over src/, several at a time. A file that passed is not looked at again until it, a header or the
# configuration changes: build/tidy/ holds a stamp per file.
run_tidy() {
  local log=build/tidy.log
  mkdir -p build/tidy
  : > "$log"
  local newest
  newest=$( (sources 'src/*.h'; echo .clang-tidy) | xargs stat -c %Y | sort -n | tail -1)
  local file stamp
  local -a todo=()
  while read -r file; do
    stamp=build/tidy/${file//\//_}
    if [[ ! -f $stamp || $file -nt $stamp || $(stat -c %Y "$stamp") -lt $newest ]]; then todo+=("$file"); fi
  done < <(sources 'src/*.cc')
  ((${#todo[@]})) || { say "clang-tidy: nothing changed since it was last fine"; return 0; }
  local status=0
  printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -I{} bash -c '
    file=$1
    if out=$(clang-tidy-19 --quiet -p build/release --extra-arg=-Wno-unknown-warning-option "$file" 2> /dev/null); then
      touch "build/tidy/${file//\//_}"
      echo "[fine] $file"
    else
      # One write each, so that reports of several files do not mix.
      printf "[found] %s\n%s\n" "$file" "$out"
      exit 1
    fi' _ {} 2>&1 | tee "$log" | awk -v all="${#todo[@]}" '/^\[(fine|found)\] / { printf "[%d/%d] %s\n", ++n, all, $2; fflush() }' | show_progress clang-tidy || status=1
  # xargs reports failures through the log: the pipe has its own status.
  if grep -q '^\[found\]' "$log"; then
    grep -v '^\[fine\]' "$log" | head -100 >&2
    say "clang-tidy found something; all of it: $log"
    exit 1
  fi
  ((status)) && { say "clang-tidy did not run to its end: $log"; exit 1; }
  say "clang-tidy: fine (${#todo[@]} files looked at)"
}
