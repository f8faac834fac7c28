#include "cli/run_request.h"

#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "runtime/kernel_pattern.h"

namespace muscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string error_of(const Arguments& args) {
  try {
    parse_run_request(args);
  } catch (const Error& e) {
    return e.what();
  } catch (const Leave& leave) {
    return "left with " + std::to_string(leave.code);
  }
  return "no error";
}

TEST(RunRequest, OptionsEndAtTheProgram) {
  const RunRequest r = parse_run_request({"--gpu", "a100", "./app", "--gpu", "h200", "-q", "--", "x"});
  EXPECT_EQ(r.gpu, "a100");
  EXPECT_EQ(r.program, "./app");
  EXPECT_THAT(r.args, ElementsAre("--gpu", "h200", "-q", "--", "x"));
  EXPECT_FALSE(r.quiet);
  EXPECT_THAT(r.sources, IsEmpty());
}

TEST(RunRequest, ValuesMayLookLikeProgramsOrOptions) {
  const RunRequest r =
      parse_run_request({"--json", "a.cu", "--launches=-3", "-q", "--compile-flags", "-O2 -DX", "./app"});
  EXPECT_EQ(r.json, "a.cu");
  EXPECT_EQ(r.launches.first, 0u);
  EXPECT_EQ(r.launches.last, 3u);
  EXPECT_TRUE(r.quiet);
  EXPECT_EQ(r.compile_flags, "-O2 -DX");
  EXPECT_EQ(r.program, "./app");
}

TEST(RunRequest, SourcesThenArguments) {
  const RunRequest r = parse_run_request({"a.cu", "b.cu", "1024", "c.cu"});
  EXPECT_THAT(r.sources, ElementsAre("a.cu", "b.cu"));
  EXPECT_THAT(r.args, ElementsAre("1024", "c.cu"));
  EXPECT_EQ(r.program, "");
  const RunRequest dashes = parse_run_request({"a.cu", "--", "b.cu"});
  EXPECT_THAT(dashes.sources, ElementsAre("a.cu"));
  EXPECT_THAT(dashes.args, ElementsAre("b.cu"));
  EXPECT_THAT(parse_run_request({"app.mu"}).sources, ElementsAre("app.mu"));
}

TEST(RunRequest, EachReportHasAPlaceOfItsOwn) {
  EXPECT_THAT(error_of({"--json", "r.out", "--csv", "./r.out", "./app"}), HasSubstr("--json and --csv both write to"));
  EXPECT_THAT(error_of({"--json", "-", "--csv", "-", "./app"}), HasSubstr("standard output"));
  EXPECT_EQ(error_of({"--json", "-", "--csv", "r.csv", "./app"}), "no error");
}

TEST(RunRequest, EmptyValuesAreRefused) {
  EXPECT_THAT(error_of({"--json", "", "./app"}), HasSubstr("--json was given an empty value"));
  EXPECT_THAT(error_of({"--kernel", "", "./app"}), HasSubstr("--kernel was given an empty value"));
}

TEST(RunRequest, DashesBeforeACommand) {
  const RunRequest r = parse_run_request({"--timeout", "2m", "--", "a.cu", "-x"});
  EXPECT_EQ(r.program, "a.cu");
  EXPECT_THAT(r.args, ElementsAre("-x"));
  EXPECT_EQ(r.timeout_seconds, 120.0);
}

TEST(RunRequest, Durations) {
  EXPECT_EQ(parse_duration("30"), 30.0);
  EXPECT_EQ(parse_duration("1.5"), 1.5);
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("1h"), 3600.0);
  EXPECT_EQ(parse_duration("1e300"), 1e8);
  for (const char* bad : {"", "-1", "x", "5x", "nan", "inf", "+1", " 3"}) EXPECT_LT(parse_duration(bad), 0) << bad;
}

TEST(RunRequest, LaunchRanges) {
  const auto parse = [](const char* text) {
    runtime::LaunchRange range{7, 7};
    const bool good = runtime::parse_launch_range(text, range);
    return std::tuple(good, range.first, range.last);
  };
  EXPECT_EQ(parse("3"), std::tuple(true, 3u, 3u));
  EXPECT_EQ(parse("3-5"), std::tuple(true, 3u, 5u));
  EXPECT_EQ(parse("3-"), std::tuple(true, 3u, 0xffffffffu));
  EXPECT_EQ(parse("-5"), std::tuple(true, 0u, 5u));
  for (const char* bad : {"", "-", "5-3", "a", "3-b", "3--5", "99999999999", "1.5", " 3"}) {
    EXPECT_EQ(parse(bad), std::tuple(false, 7u, 7u)) << bad;
  }
}

TEST(RunRequest, KernelPatterns) {
  std::string why;
  const auto matches = [&](const std::string& expression, const std::string& name) {
    return runtime::KernelPattern::compile(expression, why)->matches(name);
  };
  EXPECT_TRUE(matches("", "copy(float*)"));
  EXPECT_TRUE(matches("^cop[xy]\\(", "copy(float*)"));
  EXPECT_TRUE(matches("naive|tiled", "transpose_tiled(float*)"));
  EXPECT_FALSE(matches("^loat", "copy(float*)"));
  EXPECT_EQ(runtime::KernelPattern::compile("a(", why), nullptr);
  EXPECT_THAT(why, HasSubstr("( or \\("));
  // Template names can be long; matching one must not need a deep stack.
  EXPECT_TRUE(matches("^a.*(b|c)+d$", "a" + std::string(1 << 20, 'b') + "d"));
}

TEST(RunRequest, BadValuesAreNamed) {
  EXPECT_THAT(error_of({}), StartsWith("error D105: no program to run"));
  EXPECT_THAT(error_of({"--"}), StartsWith("error D105"));
  EXPECT_THAT(error_of({"--quiet"}), StartsWith("error D105"));
  EXPECT_THAT(error_of({"--trace", "x.mst", "./app"}), StartsWith("error D103: --trace is not there yet"));
  EXPECT_THAT(error_of({"--launches", "x", "./app"}), StartsWith("error D104: --launches does not understand 'x'"));
  EXPECT_THAT(error_of({"--kernel", "a(", "./app"}),
              StartsWith("error D104: --kernel 'a(' is not a regular expression"));
  EXPECT_THAT(error_of({"--timeout", "0", "./app"}), StartsWith("error D104: --timeout"));
  EXPECT_THAT(error_of({"--devices", "0", "./app"}), StartsWith("error D104: --devices 0"));
  EXPECT_THAT(error_of({"--emit", "ptx,sass", "./app"}), HasSubstr("--emit does not know 'sass'"));
  EXPECT_THAT(error_of({"--kernel", std::string(50'000, '('), "./app"}), StartsWith("error D104: --kernel has 50000"));
  EXPECT_THAT(error_of({"--max-steps", "-1", "./app"}), StartsWith("error D104: --max-steps"));
  EXPECT_THAT(error_of({"--toolchain", "gcc", "./app"}), StartsWith("error D408: unknown toolchain 'gcc'"));
  EXPECT_THAT(error_of({"--view", "tree", "./app"}), StartsWith("error D104: --view"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(error_of({"--nonsense", "./app"}), "left with 2");
  EXPECT_EQ(error_of({"--threads", "many", "./app"}), "left with 2");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--nonsense"));
}

TEST(RunRequest, HelpNamesTheProgramAndHidesWhatIsNotThere) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(error_of({"--help"}), "left with 0");
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_THAT(help, HasSubstr("PROGRAM | -- COMMAND"));
  EXPECT_THAT(help, HasSubstr("--launches"));
  EXPECT_THAT(help, Not(HasSubstr("--trace")));
}

// What is printed for options that do not exist: the wrong one, and what was probably meant.
std::string usage_error_of(const Arguments& args) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(error_of(args), "left with 2");
  return testing::internal::GetCapturedStderr();
}

TEST(RunRequest, UnknownOptionsAreAnsweredWithWhatWasMeant) {
  EXPECT_THAT(usage_error_of({"--kernels", "copy", "a.cu"}),
              AllOf(StartsWith("error D101: unknown option '--kernels'\n"), HasSubstr("did you mean --kernel?")));
  EXPECT_THAT(usage_error_of({"--jsn=x", "a.cu"}),
              AllOf(StartsWith("error D101: unknown option '--jsn=x'\n"), HasSubstr("did you mean --json?")));
  EXPECT_THAT(usage_error_of({"-O2", "a.cu"}), HasSubstr("--compile-flags '-O2'"));
  EXPECT_THAT(usage_error_of({"-arch=sm_80", "a.cu"}),
              AllOf(HasSubstr("--gpu sm_80;"), HasSubstr("--compile-flags '-arch=sm_80'")));
  EXPECT_THAT(usage_error_of({"-k", "copy", "a.cu"}), HasSubstr("--kernel REGEX"));
  EXPECT_THAT(usage_error_of({"-o", "app", "a.cu"}), HasSubstr("muscope cc -o app app.cu"));
  EXPECT_THAT(usage_error_of({"-Z", "a.cu"}), HasSubstr("muscope run --help shows the options"));
}

TEST(RunRequest, OptionsAfterTheProgramAreNoted) {
  const auto said = [](const Arguments& args) {
    testing::internal::CaptureStderr();
    parse_run_request(args);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said({"a.cu", "--json", "x.json", "--csv=y"}),
              StartsWith("note D126: --json stands after the program, so the program gets it\n"));
  EXPECT_THAT(said({"./app", "--csv=y"}), StartsWith("note D126: --csv "));
  EXPECT_EQ(said({"./app", "--gpu", "0", "--threads", "4"}), "");
  EXPECT_EQ(said({"./app", "--sarif", "x"}), "");  // no option of muscope run
  EXPECT_EQ(said({"-q", "./app", "--json", "x"}), "");
  EXPECT_EQ(said({"--", "./app", "--json", "x"}), "");  // the dashes say that it is meant so
}

TEST(RunRequest, AForgottenValueIsNamed) {
  EXPECT_THAT(error_of({"--json", "app.cu"}), HasSubstr("'app.cu' was taken as the value of --json"));
  EXPECT_THAT(error_of({"-q", "--metrics", "./app"}), HasSubstr("'./app' was taken as the value of --metrics"));
  EXPECT_THAT(error_of({"--json=app.cu"}), Not(HasSubstr("was taken")));
  EXPECT_THAT(error_of({"--top", "3", "-q"}), Not(HasSubstr("was taken")));
}

}  // namespace
}  // namespace muscope::cli
