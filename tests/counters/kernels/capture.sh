#!/usr/bin/env bash
# Runs the programs of this folder and of ../experiments on a real GPU under Nsight Compute and writes what the hardware
# counted. Needs a GPU, nvcc and ncu. Usage: capture.sh OUTPUT_DIR [ARCH [PROGRAM]]; with a program of this folder, it
# alone. Results: kernels.csv (ncu's raw page, column "Program" in front; programs with a list NAME_metrics.txt get those
# metrics too, in NAME.csv), kernels_sass.csv (per machine instruction), swap.csv and swap.tsv
# (experiments/shared_swap.cu), atomic.csv and atomic.tsv (experiments/atomic_sectors.cu), copies.csv and copies.tsv
# (experiments/async_copies.cu), sets.csv and sets.tsv (experiments/tag_sets.cu), log.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
out=$1 arch=${2:-sm_90} only=${3:-}
metrics=$(paste -sd, tests/counters/examples/metrics.txt)
build=$(mktemp -d)
{ nvidia-smi --query-gpu=name,driver_version --format=csv; nvcc --version | tail -n 2; ncu --version | tail -n 1; } > "$out/log" 2>&1
: > "$out/kernels.csv"
: > "$out/kernels_sass.csv"
one() {
  local source=$1 name wanted=$metrics to="$out/kernels.csv"
  name=$(basename "$source" .cu)
  if [ -f "tests/counters/kernels/${name}_metrics.txt" ]; then
    wanted=$metrics,$(paste -sd, "tests/counters/kernels/${name}_metrics.txt") to=$out/$name.csv
    : > "$to"
  fi
  nvcc -O2 -std=c++17 -lineinfo -arch="$arch" -cudart shared -o "$build/$name" "$source" >> "$out/log" 2>&1 || return
  echo "== $name" >> "$out/log"
  timeout 60 "$build/$name" >> "$out/log" 2>&1
  echo "exit $?" >> "$out/log"
  timeout 200 ncu --clock-control none --cache-control all --csv --page raw --metrics "$wanted" "$build/$name" > "$build/$name.raw" 2>> "$out/log"
  grep '^"' "$build/$name.raw" | sed "s/^/\"$name\",/" >> "$to"
  timeout 200 ncu --clock-control none --section SourceCounters --page source --print-source sass --csv "$build/$name" 2>> "$out/log" | sed "s/^/\"$name\",/" > "$build/$name.sass"
  cat "$build/$name.sass" >> "$out/kernels_sass.csv"
}
for source in tests/counters/kernels/${only:-*}.cu; do one "$source"; done
if [ -z "$only" ]; then
  nvcc -O2 -std=c++17 -arch="$arch" -o "$build/swap" tests/counters/experiments/shared_swap.cu >> "$out/log" 2>&1
  timeout 250 ncu --clock-control none --csv --page raw --metrics smsp__inst_executed.sum,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_atom.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum "$build/swap" "$out/swap.tsv" 2>> "$out/log" | grep '^"' > "$out/swap.csv"
  nvcc -O2 -std=c++17 -arch="$arch" -o "$build/atomic" tests/counters/experiments/atomic_sectors.cu >> "$out/log" 2>&1
  timeout 400 ncu --clock-control none --csv --page raw --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_red.sum,l1tex__t_requests_pipe_lsu_mem_global_op_red.sum "$build/atomic" "$out/atomic.tsv" 2>> "$out/log" | grep '^"' > "$out/atomic.csv"
  nvcc -O2 -std=c++17 -arch="$arch" -o "$build/copies" tests/counters/experiments/async_copies.cu >> "$out/log" 2>&1
  timeout 900 ncu --clock-control none --cache-control all --csv --page raw --metrics "$(paste -sd, tests/counters/kernels/async_metrics.txt)" "$build/copies" "$out/copies.tsv" 2>> "$out/log" | grep '^"' > "$out/copies.csv"
  nvcc -O2 -std=c++17 -arch="$arch" -o "$build/sets" tests/counters/experiments/tag_sets.cu >> "$out/log" 2>&1
  timeout 200 ncu --clock-control none --csv --page raw --metrics l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum "$build/sets" "$out/sets.tsv" 2>> "$out/log" | grep '^"' > "$out/sets.csv"
fi
rm -rf "$build"
gzip -f "$out/kernels_sass.csv"
grep -A1 -E "^==|exit|FAILED|wrong" "$out/log" | tail -40
wc -l "$out"/*.csv
