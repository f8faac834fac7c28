// Programs with a closed library (closed_library.cc): what it cannot do is told by the library's name, and the rest
// runs.
#include <gmock/gmock.h>

#include "toolchain/process.h"

namespace muscope {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ClosedLibrary, IsNamedAndTheRestRuns) {
  const auto run = toolchain::run_process({MUSCOPE_PROGRAM, "run", "--gpu", "h200", "--quiet", MUSCOPE_CLOSED_PROGRAM});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("library | code 801 table 0\n"));  // cudaErrorNotSupported
  EXPECT_THAT(run.out, HasSubstr("the rest\n"));
  EXPECT_THAT(run.err, HasSubstr("D516: cuBLAS is missing from emulation: call_of_the_library in libcublas.so asks for "
                                 "cudaGetExportTable, which muscope does not have, and fails"));
  EXPECT_THAT(run.err, Not(HasSubstr("D501")));
}

// Whatever the library asks for, also through the driver's interface, and deep inside of it.
TEST(ClosedLibrary, IsNamedForEveryFunctionThatIsMissing) {
  const auto run =
      toolchain::run_process({MUSCOPE_PROGRAM, "run", "--gpu", "h200", "--quiet", MUSCOPE_CLOSED_PROGRAM, "others"});
  EXPECT_THAT(run.out, HasSubstr("others | code 801\n"));
  EXPECT_THAT(run.err, HasSubstr("D516: cuBLAS is missing from emulation: other_call in libcublas.so asks for "
                                 "cudaIpcGetMemHandle, which muscope does not have, and fails"));
  EXPECT_THAT(run.err, Not(HasSubstr("D501")));
}

TEST(ClosedLibrary, ProgramsThatAskThemselvesAreTold) {
  const auto run =
      toolchain::run_process({MUSCOPE_PROGRAM, "run", "--gpu", "h200", "--quiet", MUSCOPE_CLOSED_PROGRAM, "own"});
  EXPECT_THAT(run.out, HasSubstr("program | code 801\n"));
  EXPECT_THAT(run.err, HasSubstr("D501: the program called cudaGetExportTable"));
}

}  // namespace
}  // namespace muscope
