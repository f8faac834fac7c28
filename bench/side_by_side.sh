#!/usr/bin/env bash
# muscope beside oclgrind (Debian package oclgrind) on the same two kernels, in one run, both on all cores.
# oclgrind would take a minute for the whole transpose: it runs a part of the rows, and its start-up (a run of one work group)
# is taken off. Usage: bench/side_by_side.sh [path of muscope]. Prints kernel seconds for the whole problem and the ratio.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
muscope=${1:-../build/release/muscope}
command -v oclgrind-kernel > /dev/null || { echo "oclgrind is not installed: apt-get install oclgrind"; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# sim NAME GLOBAL LOCAL ARGUMENT-LINES...: seconds of one oclgrind run.
sim() {
  local name=$1 global=$2 local_size=$3
  shift 3
  { echo "$PWD/oclgrind/$name.cl"; echo "$name"; echo "$global"; echo "$local_size"; printf '%s\n' "$@"; } > "$work/$name.sim"
  local start end
  start=$(date +%s.%N)
  oclgrind-kernel "$work/$name.sim" > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
  end=$(date +%s.%N)
  awk -v a="$start" -v b="$end" 'BEGIN { printf "%.3f", b - a }'
}

matrix='<size=67108864 fill=0>'
ours=$("$muscope" run --quiet programs/side_by_side.cu)
printf '%-34s %12s %12s %8s\n' "kernel" "oclgrind s" "muscope s" "ratio"
report() {  # NAME LABEL BASE-SECONDS PART-SECONDS SCALE
  local mine
  mine=$(awk -v n="$1" '$1 == n { print $2 }' <<< "$ours")
  awk -v label="$2" -v base="$3" -v part="$4" -v scale="$5" -v mine="$mine" 'BEGIN {
    theirs = (part - base) * scale
    printf "%-34s %12.2f %12.4f %8.0f\n", label, theirs, mine, theirs / mine }'
}
base=$(sim naive '16 16 1' '16 16 1' "$matrix" "$matrix" '<size=4 int>' 4096)
part=$(sim naive '4096 256 1' '16 16 1' "$matrix" "$matrix" '<size=4 int>' 4096)
report naive "naive transpose 4096 x 4096" "$base" "$part" 16
base=$(sim arith '256 1 1' '256 1 1' '<size=65536 fill=0>' '<size=4 int>' 1)
part=$(sim arith '2048 1 1' '256 1 1' '<size=65536 fill=0>' '<size=4 int>' 1000)
report arith "arithmetic, 16,384 threads x 1000" "$base" "$part" 8
