#include "toolchain/link_code.h"

#include <gmock/gmock.h>

#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::HasSubstr;

/// A ptxas whose code is "(options)text", and an nvlink that joins what it is given and refuses "bad".
Tool fake_tools(const TestFolder& folder) {
  folder.write_script("nvlink", R"(
echo "linked" >> "$(dirname "$0")/log"
out=$(eval echo \$$#)
printf '%s' "$1" > "$out"
for word in "$@"; do
  case "$word" in
    */part*.cubin) if grep -q bad "$word"; then echo "nvlink error   : Undefined reference to 'x'" >&2; exit 255; fi
      cat "$word" >> "$out";;
  esac
done
)");
  const std::string path = folder.write_script("ptxas", R"(
for word in "$@"; do
  case "$word" in *.ptx) in=$word;; *.cubin) out=$word;; -*) options="$options$word";; esac
done
if grep -q wrong "$in"; then echo "line 1; error: wrong" >&2; exit 255; fi
printf '|%s ' "$options" > "$out"
cat "$in" >> "$out"
)");
  return {"ptxas", path, {13, 0, 88}};
}

TEST(LinkCode, AssemblesEachFileAndLinksThemInOrder) {
  const TestFolder folder;
  const Tool ptxas = fake_tools(folder);
  const std::optional<Tool> nvlink = find_nvlink(ptxas);
  ASSERT_TRUE(nvlink);
  // The architecture is that of the first.
  const Assembled made =
      assemble_and_link(ptxas, *nvlink, {{"one", 90, 'a', 0, {"-O1"}}, {"two", 80, 0, 0, {}}}, nullptr);
  EXPECT_EQ(made.cubin,
            "-arch=sm_90a|-arch=sm_90a-lineinfo-O1--compile-only-o one|-arch=sm_90a-lineinfo--compile-only-o two");
}

TEST(LinkCode, WhatEitherToolRefusesIsAValue) {
  const TestFolder folder;
  const Tool ptxas = fake_tools(folder);
  const Tool nvlink = *find_nvlink(ptxas);
  const auto make = [&](const char* text) {
    return assemble_and_link(ptxas, nvlink, {{"one", 90, 0, 0, {}}, {text, 90, 0, 0, {}}}, nullptr);
  };
  EXPECT_FALSE(make("wrong").ok());
  EXPECT_THAT(make("wrong").messages, HasSubstr("error: wrong"));
  EXPECT_FALSE(make("bad").ok());
  EXPECT_THAT(make("bad").messages, HasSubstr("Undefined reference"));
  EXPECT_FALSE(assemble_and_link(ptxas, nvlink, {}, nullptr).ok());
}

TEST(LinkCode, TheSecondTimeItComesFromTheCache) {
  const TestFolder folder;
  const Tool ptxas = fake_tools(folder);
  Cache cache(folder.path("cache"));
  const auto make = [&](const char* text) {
    return assemble_and_link(ptxas, *find_nvlink(ptxas), {{"one", 90, 0, 0, {}}, {text, 90, 0, 0, {}}}, &cache);
  };
  EXPECT_FALSE(make("two").from_cache);
  EXPECT_TRUE(make("two").from_cache);
  EXPECT_FALSE(make("three").from_cache);
  EXPECT_EQ(folder.read("log"), "linked\nlinked\n");
}

TEST(LinkCode, WithoutNvlinkThereIsNone) {
  const TestFolder folder;
  EXPECT_FALSE(find_nvlink({"ptxas", folder.path("ptxas"), {}}));
}

}  // namespace
}  // namespace muscope::toolchain
