#!/usr/bin/env bash
# Makes the programs that are held against an H200: suite/suite, suite/patterns, examples/programs/*, kernels/programs/*. They
# are committed, so that the tests need no NVIDIA software; run this only after a source has changed, and capture the
# counters again then (examples/capture.sh). Needs nvcc 13 (in PATH or CUDA_HOME) and strip.
# Usage: make_programs.sh [NAME...]   (suite, patterns, conversions, an example, a program of kernels/; all when none is named)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export PATH="${CUDA_HOME:-/usr/local/cuda}/bin:$PATH"
nvcc --version | grep -q 'release 13' || { echo "make_programs.sh: needs nvcc 13" >&2; exit 3; }
here=$PWD
# nvcc writes the path of the source into the line information: always the same one, whoever builds.
work=/tmp/muscope-counters
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
cp suite/*.cu examples/conversions.cu "$work"
cp -r ../../examples "$work"
cd "$work"

build() {  # build SOURCE PROGRAM
  # As the counters were captured, apart from the shared runtime. The device code is compressed; line information lives
  # in it, so that strip only takes host symbols.
  nvcc -O2 -std=c++17 -lineinfo -arch=sm_90 -cudart shared --compress-mode size -o "$2" "$1"
  strip "$2"
  chmod 755 "$2"
}
wanted() {  # wanted NAME
  [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]
}
names=("$@")
cp "$here"/kernels/*.cu "$here"/kernels/*.h "$here"/experiments/*.cu .
for source in *.cu examples/*/*.cu; do
  name=$(basename "$source" .cu)
  wanted "$name" || continue
  case $source in
    examples/* | conversions.cu) build "$source" "$here/examples/programs/$name" ;;
    suite.cu | patterns.cu) build "$source" "$here/suite/$name" ;;
    *) build "$source" "$here/kernels/programs/$name" ;;
  esac
done
du -sh "$here/suite" "$here/examples/programs"
