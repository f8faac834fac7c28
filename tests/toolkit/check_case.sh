#!/bin/bash
# check_case.sh CLANG VERSION TOOLKIT CASE.cu OUTPUT_FOLDER: compiles a case for device and host with the flags of
# toolkit/README.md and holds the results against the expectations in its comments:
#   // PTX: text        the device code contains the text
#   // NO PTX: text     it does not
#   // ERROR: text      the device pass fails and says the text; the case's file is named first
#   // FLAGS: words     more flags for both passes; // DEVICE FLAGS: words for the first
# Warnings are errors. Device code may call nothing that the driver does not supply.
set -u
clang=$1 version=$2 toolkit=$3 source=$4 out=$5
name=$(basename "$source" .cu)
mkdir -p "$out"
case $version in
  19) feature=+ptx85 sdk=12.5 ;;
  20 | 21) feature=+ptx86 sdk=12.8 ;;
  *) feature=+ptx88 sdk=12.9 ;;
esac
expectations() { sed -n "s|^// $1: ||p" "$source"; }
complain() {
  echo "$source: $1"
  exit 1
}
read -r -a more <<< "$(expectations FLAGS | tr '\n' ' ')"
shared=(-x cuda --cuda-path=/nonexistent -nocudainc -nocudalib -Xclang "-target-sdk-version=$sdk" --cuda-gpu-arch=sm_90
        -isystem "$toolkit" -include "$toolkit/muscope/prelude.h" -std=c++17 -Wno-register -Wall -Wextra -Werror
        "${more[@]}")
read -r -a device <<< "$(expectations "DEVICE FLAGS" | tr '\n' ' ')"
ptx=$out/$name.ptx
"$clang" "${shared[@]}" --cuda-device-only "--cuda-feature=$feature" -O3 -gline-tables-only \
  -ffp-contract=fast-honor-pragmas "${device[@]}" -S -o "$ptx" "$source" 2> "$out/$name.log"
status=$?
if [ -n "$(expectations ERROR)" ]; then
  [ $status -ne 0 ] || complain "was to be rejected"
  grep -q "^$source:[0-9]*:[0-9]*: error: " "$out/$name.log" || complain "the error names another file: $(cat "$out/$name.log")"
  while IFS= read -r text; do
    grep -qF -- "$text" "$out/$name.log" || complain "the error does not say: $text"
  done < <(expectations ERROR)
  exit 0
fi
[ $status -eq 0 ] || { cat "$out/$name.log"; complain "device pass failed"; }
[ ! -s "$out/$name.log" ] || { cat "$out/$name.log"; complain "device pass has messages"; }
"$clang" "${shared[@]}" --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang "$ptx" -O1 -c -o "$out/$name.o" "$source" ||
  complain "host pass failed"
undefined=$(grep -A1 '^\.extern \.func' "$ptx" | grep -o '[_a-zA-Z][_a-zA-Z0-9]*' |
  grep -vE '^(extern|func|param|b32|b64|u32|u64|func_retval0|vprintf|malloc|free|__assertfail|.*_param_[0-9]+)$' | sort -u)
[ -z "$undefined" ] || complain "device code calls: $undefined"
while IFS= read -r text; do
  grep -qF -- "$text" "$ptx" || complain "the PTX has no: $text"
done < <(expectations PTX)
while IFS= read -r text; do
  ! grep -qF -- "$text" "$ptx" || complain "the PTX has: $text"
done < <(expectations "NO PTX")
