#include "toolchain/widen_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muscope::toolchain {
namespace {

using testing::HasSubstr;

TEST(WidenCopies, SixteenAlignedBytesAreOneAccess) {
  EXPECT_EQ(widen_copies("  tail call void @llvm.memcpy.p0.p0.i64(ptr noundef nonnull align 16 dereferenceable(16) %6, "
                         "ptr noundef nonnull align 16 dereferenceable(16) %4, i64 16, i1 false), !dbg !35, "
                         "!tbaa.struct !36\n"),
            "  %muscope.copy.0 = load <4 x i32>, ptr %4, align 16, !dbg !35\n"
            "  store <4 x i32> %muscope.copy.0, ptr %6, align 16, !dbg !35\n");
}

TEST(WidenCopies, EveryPieceIsAsWideAsAlignmentAndRestAllow) {
  EXPECT_EQ(widen_copies("  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %d, ptr align 16 %s, i64 14, i1 false)\n"),
            "  %muscope.copy.0 = load i64, ptr %s, align 8\n"
            "  %muscope.copy.1.from = getelementptr i8, ptr %s, i64 8\n"
            "  %muscope.copy.1 = load i32, ptr %muscope.copy.1.from, align 4\n"
            "  %muscope.copy.2.from = getelementptr i8, ptr %s, i64 12\n"
            "  %muscope.copy.2 = load i16, ptr %muscope.copy.2.from, align 2\n"
            "  store i64 %muscope.copy.0, ptr %d, align 8\n"
            "  %muscope.copy.1.to = getelementptr i8, ptr %d, i64 8\n"
            "  store i32 %muscope.copy.1, ptr %muscope.copy.1.to, align 4\n"
            "  %muscope.copy.2.to = getelementptr i8, ptr %d, i64 12\n"
            "  store i16 %muscope.copy.2, ptr %muscope.copy.2.to, align 2\n");
}

TEST(WidenCopies, AddressSpacesAndConstantExpressionsAreKept) {
  const std::string out = widen_copies(
      "  call void @llvm.memcpy.p3.p0.i64(ptr addrspace(3) align 16 getelementptr inbounds ([4 x %struct.float4], ptr "
      "addrspace(3) @tile, i64 0, i64 1), ptr align 16 addrspacecast (ptr addrspace(1) @g to ptr), i64 16, i1 "
      "false)\n");
  EXPECT_THAT(out, HasSubstr("load <4 x i32>, ptr addrspacecast (ptr addrspace(1) @g to ptr), align 16\n"));
  EXPECT_THAT(out,
              HasSubstr("ptr addrspace(3) getelementptr inbounds ([4 x %struct.float4], ptr addrspace(3) @tile, i64 "
                        "0, i64 1), align 16\n"));
}

TEST(WidenCopies, WhatCannotBeWidenedStays) {
  for (const char* line : {
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 16, i1 true)\n",    // volatile
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 %n, i1 false)\n",   // size unknown
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 512, i1 false)\n",  // long
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %d, ptr align 16 %s, i64 64, i1 false)\n",    // 64 pieces
           "  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 16",                // cut off
           "declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias, i64, i1 immarg) #1\n",
           "  %x = load i32, ptr %p, align 4\n",
       }) {
    EXPECT_EQ(widen_copies(line), line);
  }
}

TEST(WidenCopies, NamesStayDistinctAndOtherLinesAlone) {
  const std::string call = "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %d, ptr align 4 %s, i64 4, i1 false)\n";
  const std::string out = widen_copies("a\n" + call + "b\n" + call + "c");
  EXPECT_THAT(out, HasSubstr("%muscope.copy.0 = load i32"));
  EXPECT_THAT(out, HasSubstr("%muscope.copy.1 = load i32"));
  EXPECT_TRUE(out.starts_with("a\n") && out.ends_with("\nc")) << out;
}

}  // namespace
}  // namespace muscope::toolchain
