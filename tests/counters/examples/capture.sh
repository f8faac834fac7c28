#!/usr/bin/env bash
# Runs every example on a real GPU, then under Nsight Compute, and writes what the hardware counted.
# Needs a GPU, nvcc and ncu. Usage: capture.sh OUTPUT_DIR [ARCH]. Result: OUTPUT_DIR/examples.csv (ncu's raw page, one
# header, column "Example" in front) and OUTPUT_DIR/examples.log (what each example printed).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
out=$1 arch=${2:-sm_90}
metrics=$(paste -sd, tests/counters/examples/metrics.txt)
build=$(mktemp -d)
: > "$out/examples.csv"
{
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv
  nvcc --version | tail -n 2
  ncu --version | tail -n 1
} > "$out/examples.log" 2>&1
header=
for source in examples/*/*.cu; do
  name=$(basename "$source" .cu)
  if ! nvcc -O2 -std=c++17 -lineinfo -arch="$arch" -o "$build/$name" "$source" >> "$out/examples.log" 2>&1; then
    echo "== $name: does not build" >> "$out/examples.log"
    continue
  fi
  echo "== $name" >> "$out/examples.log"
  timeout 60 "$build/$name" >> "$out/examples.log" 2>&1
  echo "exit $?" >> "$out/examples.log"
  timeout 120 ncu --clock-control none --cache-control all --csv --page raw --metrics "$metrics" "$build/$name" > "$build/raw" 2>> "$out/examples.log"
  grep '^"' "$build/raw" > "$build/rows" || continue
  if [ -z "$header" ]; then
    header=1
    sed -n '1,2s/^/"Example",/p' "$build/rows" >> "$out/examples.csv"
  fi
  sed -n "3,\$s/^/\"$name\",/p" "$build/rows" >> "$out/examples.csv"
done
rm -rf "$build"
tail -n 3 "$out/examples.log"
wc -l "$out/examples.csv"
