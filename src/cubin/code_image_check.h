// For tests and fuzz targets: whether an image that was read is in order, whatever the bytes were.
#pragma once

#include <string>

#include "cubin/code_image.h"

namespace muscope::cubin {

/// What is out of order, or an empty string: rows by pc inside their section, frames that lead outwards, indices in
/// range.
inline std::string first_disorder(const CodeImage& image) {
  const auto frames = static_cast<std::int64_t>(image.frames.size());
  for (std::int64_t i = 0; i < frames; ++i) {
    const InlineFrame& frame = image.frames[static_cast<std::size_t>(i)];
    if (frame.inlined_at < -1 || frame.inlined_at >= i) return "a frame that does not lead outwards";
    if (frame.file >= image.files.size()) return "the file of a frame";
  }
  for (const CodeSection& section : image.sections) {
    for (std::size_t i = 0; i < section.lines.size(); ++i) {
      const FrameRow& row = section.lines[i];
      if (row.pc >= section.bytes.size() || (i > 0 && section.lines[i - 1].pc >= row.pc)) return "the pc of a row";
      if (row.file >= image.files.size() || row.frame < -1 || row.frame >= frames) return "an index of a row";
      if (line_at(section, row.pc) != &row) return "a row that is not found";
      if (inline_chain(image, row).size() > image.frames.size() + 1) return "a chain without end";
    }
    for (std::size_t i = 0; i < section.ptx_lines.size(); ++i) {
      const PtxRow& row = section.ptx_lines[i];
      if (row.pc >= section.bytes.size() || (i > 0 && section.ptx_lines[i - 1].pc >= row.pc)) return "a PTX row";
      if (row.text != 0 && row.text >= image.ptx_texts.size()) return "the text of a PTX row";
    }
    for (const Relocation& r : section.relocations) {
      if (r.offset >= section.bytes.size()) return "a relocation outside its section";
    }
  }
  return {};
}

/// Applies all relocations, with addresses for everything.
inline void apply_everywhere(CodeImage& image) {
  Placement placement;
  for (std::size_t i = 0; i < image.sections.size(); ++i) placement.sections.push_back(0x10000 * (i + 1));
  placement.address = [](std::string_view) { return 0x7000'0000; };
  apply_relocations(image, placement);
}

}  // namespace muscope::cubin
