#include "toolchain/assemble.h"

#include <gmock/gmock.h>

#include "toolchain/test_folder.h"

namespace muscope::toolchain {
namespace {

using ::testing::HasSubstr;

/// A ptxas that writes its options and its input into the "cubin", and complains about PTX that says so.
Tool fake_ptxas(const TestFolder& folder) {
  const std::string path = folder.write_script("ptxas", R"(
echo "ran" >> "$(dirname "$0")/log"
for word in "$@"; do
  case "$word" in *.ptx) in=$word;; *.cubin) out=$word;; esac
done
if grep -q bad "$in"; then echo "line 1; error: bad" >&2; exit 255; fi
if grep -q empty "$in"; then exit 0; fi
echo "$1 $2 $3" > "$out"
cat "$in" >> "$out"
echo "info: used 8 registers" >&2
)");
  return {"ptxas", path, {13, 0, 88}};
}

TEST(Assemble, RunsPtxasWithLineInformation) {
  const TestFolder folder;
  const Assembled result = assemble(fake_ptxas(folder), {"text", 90, 'a', 32, {}}, nullptr);
  EXPECT_EQ(result.cubin, "-arch=sm_90a -lineinfo -maxrregcount=32\ntext");
  EXPECT_THAT(result.messages, HasSubstr("8 registers"));
}

TEST(Assemble, TheSecondTimeItComesFromTheCache) {
  const TestFolder folder;
  Cache cache(folder.path("cache"));
  const Tool ptxas = fake_ptxas(folder);
  EXPECT_FALSE(assemble(ptxas, {"text", 90, 0, 0, {}}, &cache).from_cache);
  const Assembled again = assemble(ptxas, {"text", 90, 0, 0, {}}, &cache);
  EXPECT_TRUE(again.from_cache);
  EXPECT_THAT(again.cubin, HasSubstr("text"));
  EXPECT_EQ(folder.read("log"), "ran\n");
  // Another architecture, limit or option is another result.
  EXPECT_FALSE(assemble(ptxas, {"text", 80, 0, 0, {}}, &cache).from_cache);
  EXPECT_FALSE(assemble(ptxas, {"text", 90, 0, 24, {}}, &cache).from_cache);
  EXPECT_FALSE(assemble(ptxas, {"text", 90, 0, 0, {"-O1"}}, &cache).from_cache);
}

TEST(Assemble, ARejectionIsAValueAndIsNotKept) {
  const TestFolder folder;
  Cache cache(folder.path("cache"));
  const Tool ptxas = fake_ptxas(folder);
  const Assembled bad = assemble(ptxas, {"bad", 90, 0, 0, {}}, &cache);
  EXPECT_FALSE(bad.ok());
  EXPECT_THAT(bad.messages, HasSubstr("error: bad"));
  EXPECT_FALSE(assemble(ptxas, {"empty", 90, 0, 0, {}}, &cache).ok());
  EXPECT_FALSE(assemble({"ptxas", "/nonexistent", {}}, {"text", 90, 0, 0, {}}, &cache).ok());
}

}  // namespace
}  // namespace muscope::toolchain
