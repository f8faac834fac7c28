// `muscope cc`: the option that is muscope's own, among those of nvcc.
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "cli/command.h"

namespace muscope::cli {
namespace {

using testing::StartsWith;

std::string error_of(const Arguments& args) {
  try {
    cc_command(args);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(CcCommand, ToolchainMayStandAnywhere) {
  EXPECT_THAT(error_of({"--toolchain", "gcc", "-c", "a.cu"}), StartsWith("error D408: unknown toolchain 'gcc'"));
  EXPECT_THAT(error_of({"-c", "a.cu", "--toolchain", "gcc"}), StartsWith("error D408: unknown toolchain 'gcc'"));
  EXPECT_THAT(error_of({"-c", "--toolchain=gcc", "a.cu"}), StartsWith("error D408: unknown toolchain 'gcc'"));
  EXPECT_THAT(error_of({"-c", "a.cu", "--toolchain"}), StartsWith("error D408: --toolchain needs a value"));
  // Taken out: the file is what is wrong now.
  EXPECT_THAT(error_of({"-c", "/nonexistent/a.cu", "--toolchain", "clang"}), StartsWith("error D405"));
}

}  // namespace
}  // namespace muscope::cli
