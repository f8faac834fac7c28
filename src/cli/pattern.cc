// muscope pattern: a calculator for one warp access.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "arch/nearest.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/pattern_view.h"
#include "cli/run_progress.h"
#include "model/index_expression.h"
#include "model/pattern_file.h"

namespace muscope::cli {
namespace {

using model::Pattern;

struct PatternOptions {
  std::string index, offsets, from;
  std::string space = "global", op = "LD", mask, block, grid = "1", block_index = "0", gpu = "h200", l1;
  std::uint32_t bytes = 4;
  std::int64_t scale = 0;
  std::int64_t base_offset = 0;
  std::int64_t warp = 0;
  bool json = false;
};

/// "16x16", "32,8,2" or "256" -> three numbers; missing ones are `otherwise`.
std::array<std::int64_t, 3> parse_dim(const std::string& text, const char* option, std::int64_t otherwise,
                                      std::int64_t most) {
  std::array<std::int64_t, 3> dim{otherwise, otherwise, otherwise};
  std::size_t at = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::size_t digits = 0;
    std::int64_t value = 0;
    while (at + digits < text.size() && text[at + digits] >= '0' && text[at + digits] <= '9' && digits < 12)
      value = value * 10 + (text[at + digits++] - '0');
    if (digits == 0 || value > most || value < otherwise) break;
    dim[axis] = value;
    at += digits;
    if (at == text.size()) return dim;
    if (text[at] != 'x' && text[at] != 'X' && text[at] != ',') break;
    ++at;
  }
  fail("D114",
       fmt::format("{} '{}' is not like 256 or 16x16 or 8x8x4, each from {} to {}", option, arch::printable(text),
                   otherwise, most),
       "muscope pattern --help shows the options");
}

/// What the thread grid says about each lane of the chosen warp.
struct WarpPlace {
  std::vector<model::ThreadPosition> threads;  ///< one per lane
  WarpMask exists;                             ///< lanes that are threads of the block
  std::string text;
};

WarpPlace place_warp(const PatternOptions& options, unsigned lanes) {
  WarpPlace place;
  const auto block = parse_dim(options.block.empty() ? std::to_string(lanes) : options.block, "--block", 1, 1 << 20);
  const auto grid = parse_dim(options.grid, "--grid", 1, std::numeric_limits<std::int32_t>::max());
  const auto index = parse_dim(options.block_index, "--block-index", 0, std::numeric_limits<std::int32_t>::max());
  const std::int64_t threads = block[0] * block[1] * block[2];
  if (threads > 1024)
    fail("D114", fmt::format("a block has at most 1024 threads, not {}", threads),
         "muscope pattern --help shows the options");
  const std::int64_t warps = (threads + lanes - 1) / lanes;
  if (options.warp < 0 || options.warp >= warps)
    fail("D114",
         fmt::format("the block has {} warp{}, numbered from 0; there is no warp {}", warps, warps == 1 ? "" : "s",
                     options.warp),
         "choose another --warp or --block");
  for (unsigned lane = 0; lane < lanes; ++lane) {
    model::ThreadPosition at;
    at.tid = options.warp * lanes + lane;
    at.lane = lane;
    at.warp = options.warp;
    at.warp_size = lanes;
    at.thread = {at.tid % block[0], at.tid / block[0] % block[1], at.tid / (block[0] * block[1])};
    at.block = index;
    at.block_dim = block;
    at.grid_dim = grid;
    if (at.tid < threads) place.exists.set(lane);
    place.threads.push_back(at);
  }
  place.text = fmt::format("warp {} of block {}x{}x{}", options.warp, block[0], block[1], block[2]);
  return place;
}

std::uint64_t to_address(std::int64_t index, std::int64_t scale, std::int64_t base, unsigned lane) {
  std::int64_t bytes = 0, address = 0;
  const bool overflow = __builtin_mul_overflow(index, scale, &bytes) || __builtin_add_overflow(bytes, base, &address);
  if (overflow || address < 0 || address > (std::int64_t{1} << 62))
    fail("D113",
         fmt::format("lane {} has index {}, which lies {} of the array", lane, index,
                     !overflow && address < 0 ? "before the start" : "beyond the end"),
         "--base-offset N moves the array's start by N bytes");
  return static_cast<std::uint64_t>(address);
}

PatternView single(const PatternOptions& options) {
  const arch::GpuSpec gpu = arch::find_gpu(options.gpu);
  const auto lanes = static_cast<unsigned>(gpu.warp_size.known ? gpu.warp_size.as_int() : 32);
  Pattern p;
  const auto space = model::space_of(options.space);
  if (!space)
    fail("D114", fmt::format("unknown space '{}'", arch::printable(options.space)), "global, shared, const or local");
  const auto op = model::op_of(options.op);
  if (!op)
    fail("D114", fmt::format("unknown operation '{}'", arch::printable(options.op)),
         "LD, LD_CG, LD_NC, ST, RED or ATOM");
  p.space = *space;
  p.op = *op;
  p.bytes = options.bytes;
  if (const std::string why = model::why_invalid(p); !why.empty())
    fail("D114", why, "muscope pattern --help shows the options");
  if (options.base_offset < -(std::int64_t{1} << 40) || options.base_offset > (std::int64_t{1} << 40))
    fail("D114", "--base-offset is beyond 2^40 bytes");

  const WarpPlace place = place_warp(options, lanes);
  WarpMask exists = place.exists;
  std::vector<std::optional<std::int64_t>> indexes;
  p.addresses.assign(lanes, 0);
  const WarpMask asked = options.mask.empty() || options.mask == "all" ? exists : model::parse_mask(options.mask);
  if (!options.mask.empty() && options.mask != "all")
    model::for_each_lane(asked, [&](unsigned lane) {
      if (lane >= lanes)
        fail("D114", fmt::format("the mask has active lane {}, a warp of {} has {} lanes", lane, gpu.name, lanes),
             "give one bit for each lane");
    });
  std::string origin;
  if (!options.index.empty()) {
    const model::IndexExpression expression = model::IndexExpression::parse(options.index);
    indexes.resize(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (!exists.test(lane) || !asked.test(lane)) continue;
      indexes[lane] = expression.evaluate(place.threads[lane]);
      p.addresses[lane] =
          to_address(*indexes[lane], options.scale > 0 ? options.scale : p.bytes, options.base_offset, lane);
    }
    origin = "index " + options.index;
  } else {
    const std::vector<std::uint64_t> offsets = model::parse_offsets(options.offsets);
    if (offsets.size() > lanes) fail("D114", fmt::format("{} offsets for a warp of {} lanes", offsets.size(), lanes));
    exists = {};
    for (unsigned lane = 0; lane < offsets.size(); ++lane) {
      exists.set(lane);
      p.addresses[lane] = to_address(static_cast<std::int64_t>(offsets[lane]), 1, options.base_offset, lane);
    }
    origin = "offsets as given";
  }
  if (options.base_offset != 0) origin += fmt::format(", base {:+} bytes", options.base_offset);
  for (std::size_t half = 0; half < 2; ++half) {
    const WarpMask wanted = options.mask.empty() || options.mask == "all" ? exists : asked;
    if ((wanted.words[half] & ~exists.words[half]) != 0 && !options.offsets.empty())
      fail("D114", "the mask has active lanes without an offset", "give an offset for every active lane");
    p.mask.words[half] = wanted.words[half] & exists.words[half];
  }
  bool l1_on = gpu.global.l1_caches_global_by_default;
  if (!options.l1.empty()) l1_on = options.l1 == "on";
  PatternView view = view_pattern(gpu, std::move(p), l1_on);
  view.origin = std::move(origin);
  if (!options.index.empty()) view.place = place.text;
  view.indexes = std::move(indexes);
  return view;
}

/// One line without its end; false after the last. Files without lines (/dev/zero) are refused before memory runs out.
bool read_line(std::istream& in, std::string& line, const std::string& path, int number) {
  constexpr std::size_t kLongest = 1 << 20;
  line.clear();
  int c = 0;
  while ((c = in.rdbuf()->sbumpc()) != EOF && c != '\n') {
    if (line.size() == kLongest)
      fail("D115", "a line of the pattern file is longer than 1 MiB", "it is a table of tab-separated columns",
           {path, number, 0});
    line.push_back(static_cast<char>(c));
  }
  return c == '\n' || !line.empty();
}

/// Reads rows, writes them with their counts. Bad rows are named on stderr and pass through without counts.
int batch(const PatternOptions& options) {
  const arch::GpuSpec gpu = arch::find_gpu(options.gpu);
  const bool l1_on = options.l1.empty() ? gpu.global.l1_caches_global_by_default : options.l1 == "on";
  std::ifstream opened;
  const bool from_stdin = options.from == "-";
  const std::string path = from_stdin ? "standard input" : options.from;
  if (!from_stdin) {
    opened.open(options.from, std::ios::binary);
    if (!opened)
      fail("D116", "cannot read the pattern file", "give a readable file, or - for standard input", {path, 0, 0});
  }
  std::istream& in = from_stdin ? std::cin : opened;
  std::string line;
  if (!read_line(in, line, path, 1))
    fail("D115", "the pattern file is empty", "its first line names the columns: space, op, bytes, mask, offsets",
         {path, 0, 0});
  const model::PatternFile file(line, path);
  std::string out = file.output_header() + "\n";
  constexpr int kMostNamed = 20;
  int bad = 0, number = 1, without_offsets = 0;
  while (read_line(in, line, path, number + 1)) {
    ++number;
    if (line.empty() || line == "\r") {
      out += "\n";
      continue;
    }
    std::optional<model::PatternCounts> counts;
    try {
      const model::PatternFile::Row row = file.parse(line, number);
      if (row.has_offsets) counts = model::count_pattern(gpu, row.pattern, l1_on);
      without_offsets += !row.has_offsets;
    } catch (const Error& error) {
      if (++bad <= kMostNamed) std::fputs(error.what(), stderr);
    }
    (out += model::PatternFile::output_row(line, counts ? &*counts : nullptr)) += '\n';
    if (out.size() > (1u << 16)) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  if (bad > kMostNamed) fmt::print(stderr, "{} more bad rows\n", bad - kMostNamed);
  if (without_offsets > 0)
    fmt::print(stderr, "note: {} row{} without offsets pass through uncounted\n", without_offsets,
               without_offsets == 1 ? "" : "s");
  return bad > 0 ? kUsage : kOk;
}

constexpr std::string_view kExamples =
    "  muscope pattern --index '33*tid+1' --space shared\n"
    "  muscope pattern --index 'threadIdx.x*33 + threadIdx.y' --block 16x16 --space shared\n"
    "  muscope pattern --index 'threadIdx.x*2048 + threadIdx.y' --block 16x16 --op ST\n"
    "  muscope pattern --index tid --base-offset 4 --gpu sm_20 --l1 off\n"
    "  muscope pattern --offsets 0..496:16 --bytes 16 --space shared --mask ffff\n"
    "  muscope pattern --from patterns.tsv > counted.tsv\n";

}  // namespace

int pattern_command(const Arguments& args) {
  CLI::App app(
      "One warp access: lanes against sectors and banks, under any GPU's rules.\n"
      "INDEX is a C integer expression over threadIdx.x/.y/.z, blockIdx, blockDim, gridDim, tid, lane, warp; its unit "
      "is the\n"
      "access size. Addresses count from a base aligned to 128 bytes.",
      "muscope pattern");
  PatternOptions o;
  auto* index = app.add_option("--index", o.index, "index expression of each lane");
  auto* offsets = app.add_option("--offsets", o.offsets, "byte offset of each lane: 0,4,8 or 0..124:4 or 64*16");
  auto* from = app.add_option("--from", o.from, "count every row of a tab-separated file (- for standard input)");
  index->excludes(offsets)->excludes(from);
  offsets->excludes(from);
  app.add_option("--bytes", o.bytes, "bytes per lane: 1, 2, 4, 8, 16 or 32")->capture_default_str();
  app.add_option("--space", o.space, "global, shared, const or local")->capture_default_str();
  app.add_option("--op", o.op, "LD, LD_CG, LD_NC, ST, RED or ATOM")->capture_default_str();
  app.add_option("--mask", o.mask, "active lanes, hexadecimal (default: all)");
  app.add_option("--block", o.block, "block size: 256, 16x16, 8x8x4 (default: one warp)");
  app.add_option("--grid", o.grid, "grid size, for gridDim")->capture_default_str();
  app.add_option("--block-index", o.block_index, "which block, for blockIdx: 3 or 1x2")->capture_default_str();
  app.add_option("--warp", o.warp, "which warp of the block, from 0")->capture_default_str();
  app.add_option("--scale", o.scale, "bytes per index (default: the access size)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  app.add_option("--base-offset", o.base_offset, "move the base by that many bytes");
  app.add_option("--gpu", o.gpu, "GPU, compute capability or JSON file")->capture_default_str();
  app.add_option("--l1", o.l1, "global loads cached in L1 (matters on sm_20 to sm_37)")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--json", o.json, "as JSON, schema muscope.pattern/1");
  parse(app, args, kExamples);
  try {
    if (!o.from.empty()) {
      if (o.json) fail("D114", "--from writes tab-separated rows; --json is for one pattern");
      return batch(o);
    }
    if (o.index.empty() && o.offsets.empty())
      fail("D114", "nothing to look at",
           "give --index EXPRESSION, --offsets LIST or --from FILE; muscope pattern --help has examples");
    const PatternView view = single(o);
    const std::string out = o.json ? pattern_json(view) : pattern_text(view, may_colour(STDOUT_FILENO));
    std::fwrite(out.data(), 1, out.size(), stdout);
    return kOk;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    return kUsage;
  }
}

}  // namespace muscope::cli
