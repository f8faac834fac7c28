#!/bin/bash
# Makes the test binaries of this folder. They are committed, so that tests need no NVIDIA software; run this only to
# change them. Needs nvcc 13 (in PATH or CUDA_HOME), clang-19, gcc and strip.
# Every program checks its own results and prints "<name> PASS" or "<name> FAIL" (exit code 0 or 1).
set -euo pipefail
cd "$(dirname "$0")"
export PATH="${CUDA_HOME:-/usr/local/cuda}/bin:$PATH"
nvcc --version | grep -q 'release 13' || { echo "make.sh: needs nvcc 13" >&2; exit 3; }
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A folder of its own: line tables hold where the source lay.
rm -rf /tmp/muscope-code
cp -r src /tmp/muscope-code
cd /tmp/muscope-code

build() {  # build NAME SOURCE OPTIONS...
  local name=$1 source=$2
  shift 2
  # The shared runtime is found by the loader in the usual way: no run path is stored.
  nvcc -O2 -o "$out/$name" "$source" "$@"
}
shared=(-cudart shared)

# The default of nvcc 13: an sm_75 cubin and zstd-compressed compute_75 PTX.
build vadd_shared vadd.cu "${shared[@]}"
# The same, without compression, as LZ4, and with everything (cubins too) as zstd.
build vadd_plain vadd.cu "${shared[@]}" --compress-mode none
build vadd_lz4 vadd.cu "${shared[@]}" --compress-mode speed
build vadd_zstd vadd.cu "${shared[@]}" --compress-mode size
# Architectures.
build vadd_many vadd.cu "${shared[@]}" -gencode 'arch=compute_75,code=[sm_75,compute_75]' -gencode arch=compute_80,code=sm_80 \
  -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90
build vadd_ptx90 vadd.cu "${shared[@]}" -gencode arch=compute_90,code=compute_90
build vadd_sass90 vadd.cu "${shared[@]}" -gencode arch=compute_90,code=sm_90
build vadd_90a vadd.cu "${shared[@]}" -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]'
build vadd_100f vadd.cu "${shared[@]}" -gencode 'arch=compute_100f,code=[sm_100f,compute_100f]'
# Machine code and PTX of different variants of the source.
build arch_dependent arch_dependent.cu "${shared[@]}" -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90
# Calls of the functions that the driver supplies.
build system_calls "$out/../experiments/system_calls.cu" "${shared[@]}" -arch=sm_90
# Machine code before 9.0.
build machine_80 "$out/../../programs/machine_cases.cu" "${shared[@]}" -arch=sm_80
# Line information, device debugging, per-thread default streams.
build vadd_lineinfo vadd.cu "${shared[@]}" -lineinfo -gencode 'arch=compute_90,code=[sm_90,compute_90]'
build vadd_debug vadd.cu "${shared[@]}" -G -gencode 'arch=compute_90,code=[sm_90,compute_90]'
build vadd_ptds vadd.cu "${shared[@]}" --default-stream per-thread
# Symbols.
build constants_shared constants.cu "${shared[@]}"
# Relocatable device code: two translation units.
build rdc_shared rdc_main.cu "${shared[@]}" -rdc=true rdc_part.cu
# The same, one unit without PTX.
nvcc -O2 -dc -arch=sm_90 rdc_main.cu -o "$work/rdc_main.o"
nvcc -O2 -dc -gencode arch=compute_90,code=sm_90 rdc_part.cu -o "$work/rdc_part.o"
nvcc -arch=sm_90 "${shared[@]}" -o "$out/rdc_partial" "$work/rdc_main.o" "$work/rdc_part.o"
# Clusters of thread blocks.
build clusters clusters.cu "${shared[@]}" -gencode 'arch=compute_90,code=[sm_90,compute_90]'
# Static runtimes (about 1 MB each).
build vadd_static vadd.cu
build constants_static constants.cu
strip -o "$out/vadd_static_stripped" "$out/vadd_static"
# No CUDA at all.
g++ -O2 -o "$out/host_only" host_only.cc

# Raw PTX as the fat binary.
clang=(clang++-19 -O2 -std=c++17 -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_90
  -Wno-unknown-cuda-version -Xclang -target-sdk-version=12.5)
"${clang[@]}" --cuda-device-only -S -o "$work/raw.ptx" raw_ptx.cu
"${clang[@]}" --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang "$work/raw.ptx" -c -o "$work/raw.o" raw_ptx.cu
g++ -o "$out/raw_ptx" "$work/raw.o" -L"$(dirname "$(command -v nvcc)")/../lib64" -lcudart
# The same object against stand-in libraries with the sonames and version nodes of CUDA 11 and 12.
for soname in libcudart.so.11.0 libcudart.so.12; do
  nm --undefined-only "$work/raw.o" | awk '$2 ~ /^(__)?cuda/ { print "void " $2 "(void) {}" }' > "$work/stub.c"
  echo "$soname { global: *; };" > "$work/stub.map"
  gcc -shared -w -o "$work/libcudart.so" "$work/stub.c" -Wl,-soname,"$soname" -Wl,--version-script="$work/stub.map"
  major=${soname#libcudart.so.}
  g++ -o "$out/raw_ptx_cudart${major%.0}" "$work/raw.o" -L"$work" -lcudart
done

# Cubins, and what ptxas says about them (kernels.tsv).
printf 'cubin\tkernel\tregisters\tstack_bytes\tspill_store_bytes\tspill_load_bytes\tbarriers\tshared_bytes\n' > "$out/kernels.tsv"
for arch in 75 80 90 90a 120; do
  line=()
  [ "$arch" = 90a ] && line=(-lineinfo)
  nvcc -cubin -arch="sm_$arch" -Xptxas -v "${line[@]}" kernels.cu -o "$out/kernels_$arch.cubin" 2> "$work/log"
  awk -v cubin="kernels_$arch.cubin" '
    /Compiling entry function/ { split($0, q, "\047"); kernel = q[2] }
    /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
    /Used [0-9]+ registers/ {
      registers = barriers = shared = 0
      n = split($0, part, /, | : /)
      for (i = 1; i <= n; ++i) {
        if (part[i] ~ /registers/) registers = word(part[i], 2)
        if (part[i] ~ /used .* barriers/) barriers = word(part[i], 2)
        if (part[i] ~ /smem/) shared = word(part[i], 1)
      }
      printf "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", cubin, kernel, registers, stack, stores, loads, barriers, shared
    }
    function word(text, k,  w) { sub(/^ +/, "", text); split(text, w, " "); return w[k] }
  ' "$work/log" >> "$out/kernels.tsv"
done

# Machine code in all its forms: functions, branch tables, constants, relocations, lines with inlining.
nvcc -arch=sm_90 -cubin -lineinfo code.cu -o "$out/code_90.cubin"
nvcc -arch=sm_90 -rdc=true -cubin -lineinfo code.cu -o "$out/code_90_rdc.cubin"
nvcc -arch=sm_90 -rdc=true -cubin -lineinfo code_other.cu -o "$work/other.cubin"
nvlink -arch=sm_90 "$out/code_90_rdc.cubin" "$work/other.cubin" -o "$out/code_90_linked.cubin"
nvcc -arch=sm_80 -rdc=true -cubin code.cu -o "$out/code_80_rdc.cubin"
cd "$out"
rm -rf /tmp/muscope-code
du -sh "$out"
