// Options that nvcc 13.0.88 was seen to store with PTX, and others.
#include <gmock/gmock.h>

#include "toolchain/assemble.h"

namespace muscope::toolchain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> words(const std::string& text) {
  const RecordedOptions options = read_recorded_options(text);
  EXPECT_EQ(options.problem, "") << text;
  return options.words;
}

TEST(RecordedOptions, OfNvcc) {
  EXPECT_THAT(words(""), IsEmpty());
  EXPECT_THAT(words(" -maxrregcount=32 "), ElementsAre("--maxrregcount=32"));
  EXPECT_THAT(words("-v -O2  -maxrregcount=32 "), ElementsAre("-O2", "--maxrregcount=32"));
  EXPECT_THAT(words("-dlcm=cg -warn-spills  "), ElementsAre("--def-load-cache=cg"));
  EXPECT_THAT(words(" --generate-line-info "), IsEmpty());
  EXPECT_THAT(words(" -g --dont-merge-basicblocks --return-at-end "),
              ElementsAre("--device-debug", "--dont-merge-basicblocks", "--return-at-end"));
}

TEST(RecordedOptions, ValuesMayStandApart) {
  EXPECT_THAT(words("--maxrregcount 24 -O 1 -fmad false"),
              ElementsAre("--maxrregcount=24", "--opt-level=1", "--fmad=false"));
  EXPECT_THAT(words("-maxntid 16,8"), ElementsAre("--maxntid=16,8"));
  EXPECT_THAT(words("-register-usage-level=3"), ElementsAre("--register-usage-level=3"));
}

TEST(RecordedOptions, WhatIsNotKnownOrNamesFilesIsRefused) {
  for (const char* text : {"--output-file=/home/someone/file", "-o x", "--options-file y", "-arch=sm_80", "--entry f",
                           "--no-such", "-O22", "kernel.ptx", "-maxrregcount", "-maxrregcount -v", "-g=1", "'unclosed"})
    EXPECT_NE(read_recorded_options(text).problem, "") << text;
  EXPECT_EQ(read_recorded_options("-v --no-such=1 -w").problem, "--no-such=1");
}

}  // namespace
}  // namespace muscope::toolchain
