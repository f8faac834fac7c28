// links: model
// corpus: tests/fuzz/pattern_seeds/*
//
// Index expressions, masks, offset lists, pattern files and GPU descriptions: whatever the text, an answer or a
// diagnostic. The first byte says which reader gets the rest.
#include <cstdint>
#include <string>
#include <string_view>

#include "arch/gpu_json.h"
#include "base/diagnostic.h"
#include "model/index_expression.h"
#include "model/pattern.h"
#include "model/pattern_file.h"

namespace {

using namespace muscope;
using namespace muscope::model;

void expression(std::string_view text) {
  const IndexExpression parsed = IndexExpression::parse(text);
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    ThreadPosition at;
    at.thread = {lane % 8, lane / 8, 0};
    at.tid = at.lane = lane;
    parsed.evaluate(at);
  }
}

void file(std::string_view text) {
  static const arch::GpuSpec gpus[] = {arch::find_gpu("h200"), arch::find_gpu("sm_20"), arch::find_gpu("sm_35"),
                                       arch::find_gpu("sm_61")};
  const std::size_t end = text.find('\n');
  const PatternFile rows(text.substr(0, end), "fuzz.tsv");
  rows.output_header();
  int number = 1;
  while (end != std::string_view::npos && !text.empty()) {
    const std::size_t cut = text.find('\n');
    const std::string_view line = text.substr(0, cut);
    text = cut == std::string_view::npos ? std::string_view() : text.substr(cut + 1);
    if (++number == 2) continue;
    try {
      const PatternFile::Row row = rows.parse(line, number);
      if (!row.has_offsets) continue;
      for (const arch::GpuSpec& gpu : gpus) {
        const PatternCounts counts = count_pattern(gpu, row.pattern, number % 2 == 0);
        PatternFile::output_row(line, &counts);
        passes_of(gpu, row.pattern);
      }
      misaligned_lanes(row.pattern);
    } catch (const Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 5) {
      case 0:
        expression(text);
        break;
      case 1:
        file(text);
        break;
      case 2:
        mask_text(parse_mask(text), 128);
        break;
      case 3:
        parse_offsets(text);
        break;
      default:
        arch::gpu_to_json(arch::gpu_from_json(text, "fuzz.json"));
        break;
    }
  } catch (const Error&) {
  }
  return 0;
}
