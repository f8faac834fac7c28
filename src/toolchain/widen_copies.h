// Copies of structs in LLVM IR, made as wide as their alignment allows. clang leaves `a[i] = b[i]` with float4 elements
// as llvm.memcpy, and the NVPTX back end lowers that in steps of 8 bytes; nvcc moves 16 bytes in one instruction, and
// what muscope counts are instructions. Between clang's optimiser (-emit-llvm) and its back end (-x ir):
//
//   call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 16, i1 false), !dbg !7
// becomes
//   %muscope.copy.0 = load <4 x i32>, ptr %s, align 16, !dbg !7
//   store <4 x i32> %muscope.copy.0, ptr %d, align 16, !dbg !7
#pragma once

#include <string>
#include <string_view>

namespace muscope::toolchain {

/// The IR text (clang 19 or newer, opaque pointers) with its copies of a constant size widened. Copies that are
/// volatile, longer than 256 bytes or aligned so badly that more than 32 pieces would come out stay as they are.
std::string widen_copies(std::string_view ir);

}  // namespace muscope::toolchain
