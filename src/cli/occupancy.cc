// muscope occupancy: registers, shared memory and block size -> blocks and warps per SM.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/occupancy_text.h"

namespace muscope::cli {
namespace {

/// "256", "16x16", "8,8,4": the product. "48K" where `suffix` is allowed: 1024 times the number.
std::int64_t parse_product(const std::string& text, const char* option, std::int64_t most, bool suffix) {
  std::int64_t product = 1, number = -1;
  const auto bad = [&]() {
    fail("D117",
         fmt::format("{} '{}' is not {} up to {}", option, arch::printable(text),
                     suffix ? "a number of bytes such as 4096 or 48K" : "like 256 or 16x16", most),
         "muscope occupancy --help shows the options");
  };
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\0';
    if (c >= '0' && c <= '9') {
      number = (number < 0 ? 0 : number * 10) + (c - '0');
      if (number > most) bad();
      continue;
    }
    if (number < 0) bad();
    if (suffix && (c == 'K' || c == 'k') && i + 1 == text.size()) {
      number *= 1024;
    } else if (c != '\0' && (suffix || (c != 'x' && c != 'X' && c != ','))) {
      bad();
    }
    if (__builtin_mul_overflow(product, number, &product) || product > most) bad();
    if (c == 'K' || c == 'k') break;
    number = -1;
  }
  return product;
}

}  // namespace

int occupancy_command(const Arguments& args) {
  CLI::App app("How many blocks and warps fit on one SM, what limits them, and what would lift the limit.",
               "muscope occupancy");
  std::string block, shared = "0", dynamic_shared = "0", grid, gpu = "h200";
  int registers = 0, barriers = 1;
  bool json = false;
  app.add_option("--block", block, "threads per block: 256 or 16x16; without it: the table over block sizes");
  app.add_option("--regs", registers, "registers per thread (ptxas -v, or muscope run); 0: not known")
      ->check(CLI::Range(0, 65536));
  app.add_option("--shared", shared, "static shared memory per block, bytes: 4096 or 48K")->capture_default_str();
  app.add_option("--dynamic-shared", dynamic_shared, "dynamic shared memory per block, bytes")->capture_default_str();
  app.add_option("--barriers", barriers, "named barriers that a block uses")
      ->capture_default_str()
      ->check(CLI::Range(0, 16));
  app.add_option("--grid", grid, "blocks of the launch, for waves: 4096 or 64x64");
  app.add_option("--gpu", gpu, "GPU, compute capability or JSON file")->capture_default_str();
  app.add_flag("--json", json, "as JSON, schema muscope.occupancy/1");
  parse(app, args,
        "  muscope occupancy --regs 65 --block 256\n"
        "  muscope occupancy --regs 40 --shared 32K --block 16x16 --grid 64x64\n"
        "  muscope occupancy --regs 53 --gpu sm_120\n"
        "  muscope occupancy --block 1024 --gpu rtx3090\n");
  try {
    OccupancyQuestion question;
    question.gpu = arch::find_gpu(gpu);
    constexpr std::int64_t kMostShared = std::int64_t{1} << 30;
    question.launch.registers_per_thread = registers;
    question.launch.barriers = barriers;
    question.launch.static_shared = parse_product(shared, "--shared", kMostShared, true);
    question.launch.dynamic_shared = parse_product(dynamic_shared, "--dynamic-shared", kMostShared, true);
    if (!block.empty()) {
      question.launch.threads_per_block = static_cast<int>(parse_product(block, "--block", 1 << 20, false));
      if (question.launch.threads_per_block == 0)
        fail("D117", "a block needs at least one thread", "give --block 256, or leave --block out for the table");
    }
    if (!grid.empty())
      question.grid_blocks = parse_product(grid, "--grid", std::numeric_limits<std::int64_t>::max() / 16, false);
    const std::string out = json ? occupancy_json(question) : occupancy_text(question);
    std::fwrite(out.data(), 1, out.size(), stdout);
    return kOk;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    return kUsage;
  }
}

}  // namespace muscope::cli
