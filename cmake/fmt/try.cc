// Links only when fmt_static.cc fits the installed version of libfmt.
#include <fmt/format.h>

int main(int argc, char** argv) {
  const std::string text =
      fmt::format("{:>8.3f} {} {:#x} {:L} {}", 1.5 * argc, argv[0], argc, 1000.0f, static_cast<const void*>(argv));
  fmt::print(stdout, "{} {}\n", text, fmt::format(fmt::runtime("{}{}"), std::string("x"), 2.0L));
  try {
    throw fmt::format_error("no");
  } catch (const fmt::format_error&) {
  }
  return 0;
}
