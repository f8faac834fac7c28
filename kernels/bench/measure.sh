#!/bin/bash
# Builds the measuring programs and runs them on the GPU of this machine: kernels/bench/measure.sh FOLDER [options].
# Leaves one CSV table and the raw samples per program in FOLDER, and what the machine is. Options go to every program
# (--quick, --dirty, --only TEXT). $PROGRAMS chooses programs. cuBLAS and cuDNN are looked for where pip puts them too.
set -euo pipefail
out=$(realpath -m "$1"); shift
programs=${PROGRAMS:-transpose primitives stencil}
cd "$(dirname "$0")"
if [ -n "${WORK:-}" ]; then work=$WORK; mkdir -p "$work"; else work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; fi
mkdir -p "$out"
compile=(nvcc -std=c++17 -arch=sm_90 -O3)
builds=()
for program in $programs; do
  "${compile[@]}" -c -o "$work/$program.o" ${program}_bench.cu & builds+=($!)
done
case " $programs " in *" primitives "*)
  for peer in cub_reduce cub_scan; do "${compile[@]}" -c -o "$work/$peer.o" $peer.cu & builds+=($!); done ;;
esac
for build in "${builds[@]}"; do wait "$build"; done
python=$(python3 -c 'import nvidia, os; print(list(nvidia.__path__)[0])' 2>/dev/null || true)
if [ -n "$python" ]; then
  peers=$(find "$python" -name 'libcublas.so*' -o -name 'libcudnn.so*' | xargs -r -n1 dirname | sort -u | paste -sd:)
  export MUSCOPE_PEERS=$peers LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:$peers
fi
{
  date -u +%Y-%m-%dT%H:%MZ
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu,ecc.mode.current,mig.mode.current --format=csv
  nvcc --version | tail -2
} > "$out/machine.txt"
for program in $programs; do
  objects=("$work/$program.o")
  if [ "$program" = primitives ]; then objects+=("$work/cub_reduce.o" "$work/cub_scan.o"); fi
  "${compile[@]}" -o "$work/$program" "${objects[@]}" -ldl
  status=0
  "$work/$program" --csv "$out/$program.csv" --raw "$out/$program.raw.csv" "$@" 2> "$out/$program.log" || status=$?
  tail -3 "$out/$program.log"
  nvidia-smi --query-gpu=clocks.sm,clocks.mem,temperature.gpu,clocks_event_reasons.active --format=csv,noheader >> "$out/machine.txt"
  if [ $status != 0 ]; then echo "$program ended with $status"; fi
done
