#include "code/wide_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "ptx/module.h"

namespace muscope::code {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Special;

constexpr const char* kWarp = "a warp of mp_21 and mp_22 has 128 lanes";

/// Headers of the toolkits: their lines say nothing of how a program calls them.
bool is_toolkit_header(const std::string& file) {
  for (const char* part : {"/muscope/device/", "/muscope/groups/", "sm_30_intrinsics", "/include/crt/"})
    if (file.find(part) != std::string::npos) return true;
  return false;
}

/// One function's registers that hold threadIdx.x or the lane.
class Checker {
 public:
  Checker(const Kernel& kernel, const SourceLine& source_line) : kernel_(kernel), source_line_(source_line) {}

  std::vector<views::Finding> run() {
    std::vector<const Function*> functions;
    for (const Function& function : kernel_.functions) functions.push_back(&function);
    std::sort(functions.begin(), functions.end(),
              [](const Function* x, const Function* y) { return x->entry < y->entry; });
    for (std::size_t i = 0; i < functions.size(); ++i)
      function(*functions[i],
               i + 1 < functions.size() ? functions[i + 1]->entry : static_cast<std::uint32_t>(kernel_.ops.size()));
    return std::move(findings_);
  }

 private:
  void function(const Function& function, std::uint32_t end) {
    origin_.clear();
    constants_.clear();
    volatile_store_ = nullptr;
    // Moves from special registers need no operation of their own.
    if (const std::uint32_t index = kernel_.module ? kernel_.module->find_function(function.name) : ptx::kNoIndex;
        index != ptx::kNoIndex)
      for (const ptx::Instruction& i : kernel_.module->functions[index].body) remember(i);
    for (std::uint32_t i = function.entry; i < end; ++i) {
      const Op& op = kernel_.ops[i];
      if (op.kind == OpKind::kEnter) volatile_store_ = nullptr;
      if (op.source != nullptr) check(op, *op.source);
    }
  }

  /// Registers of PTX that compilers make are written once.
  void remember(const ptx::Instruction& i) {
    if (i.opcode != Opcode::k_mov || i.operands.size() != 2 || i.operands[0].kind != OperandKind::kRegister) return;
    if (i.operands[1].kind == OperandKind::kSpecial) origin_[i.operands[0].reg] = i.operands[1].special;
    if (i.operands[1].kind == OperandKind::kImmediate) constants_[i.operands[0].reg] = i.operands[1].immediate;
  }
  Special origin(const Operand& operand) const {
    if (operand.kind == OperandKind::kSpecial) return operand.special;
    if (operand.kind != OperandKind::kRegister) return Special::kNone;
    const auto found = origin_.find(operand.reg);
    return found == origin_.end() ? Special::kNone : found->second;
  }

  std::optional<std::uint64_t> value_of(const Operand& operand) const {
    if (operand.kind == OperandKind::kImmediate) return operand.immediate;
    if (operand.kind != OperandKind::kRegister) return std::nullopt;
    const auto found = constants_.find(operand.reg);
    return found == constants_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(const Op& op, const char* code, std::string text, std::string hint) {
    // Of one line one finding of a kind: inlined and unrolled code has many of them.
    const views::Frame* frame = op.frame < kernel_.info.frames.size() ? &kernel_.info.frames[op.frame] : nullptr;
    const std::string place = frame && !frame->file.empty() ? fmt::format("{} {}:{}", code, frame->file, frame->line)
                                                            : fmt::format("{} {}", code, op.source->ptx_line);
    if (!seen_.insert(place).second) return;
    views::Finding finding;
    finding.code = code;
    finding.text = std::move(text);
    finding.hint = std::move(hint);
    finding.frame = op.frame;
    finding.ptx_line = op.source->ptx_line;
    finding.count = 1;
    findings_.push_back(std::move(finding));
  }

  void check(const Op& op, const ptx::Instruction& i) {
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      if (origin(i.operands[k]) == Special::kLaneid)
        add(op, "D632", fmt::format("%laneid is taken for 0 to 31: {}", kWarp),
            "take threadIdx.x % warpSize, or & 31 where groups of 32 are meant");
    switch (i.opcode) {
      case Opcode::k_shfl:
        return shuffle(op, i);
      case Opcode::k_vote:
      case Opcode::k_match:
      case Opcode::k_redux:
      case Opcode::k_activemask:
        return add(op, "D631", fmt::format("{} covers 32 lanes: {}", i.text(), kWarp),
                   "say which 32 lanes are meant (groups of 32 with masks of 32 bits), or use __MUSA_ARCH__ and a "
                   "wider mask; counts of lanes by __popc see a quarter of the warp");
      case Opcode::k_and:
      case Opcode::k_shr:
      case Opcode::k_div:
      case Opcode::k_rem:
      case Opcode::k_setp:
        return constant(op, i);
      case Opcode::k_bar:
      case Opcode::k_barrier:
      case Opcode::k_fence:
      case Opcode::k_membar:
        volatile_store_ = nullptr;
        return;
      case Opcode::k_st:
        if (i.has(Mod::k_volatile) && i.space() == ptx::Space::kShared) volatile_store_ = &op;
        return;
      case Opcode::k_ld:
        if (i.has(Mod::k_volatile) && i.space() == ptx::Space::kShared && volatile_store_ != nullptr)
          add(op, "D633",
              "volatile shared memory is written and read with no barrier between: lanes have to run in step",
              fmt::format("{}, and nothing promises that they do: put __syncwarp() or __syncthreads() between, or use "
                          "shuffles",
                          kWarp));
        return;
      default:
        return;
    }
  }

  void shuffle(const Op& op, const ptx::Instruction& i) {
    if (i.operands.size() < 4) return;
    const std::optional<std::uint64_t> c = value_of(i.operands[3]);
    // Bits 8 to 12 are the mask of the segment: not 0 for widths below 32.
    if (!c || ((*c >> 8) & 0x1f) != 0) return;
    for (std::uint32_t f = op.frame; f < kernel_.info.frames.size(); f = kernel_.info.frames[f].inlined_at) {
      const views::Frame& frame = kernel_.info.frames[f];
      if (!is_toolkit_header(frame.file) && gives_shuffle_width(source_line_(frame.file, frame.line))) return;
    }
    add(op, "D630", fmt::format("a shuffle without a width goes over the whole warp: {}", kWarp),
        "give the width 32 as the last argument, so that groups of 32 exchange as on CUDA, and let a further step join "
        "the four groups");
  }

  /// Comparisons with 32 also come from loops that compilers unroll: the source line says whether it is written there.
  bool may_be_written(const Op& op) const {
    if (op.frame >= kernel_.info.frames.size()) return true;
    const views::Frame& frame = kernel_.info.frames[op.frame];
    const std::string line = source_line_(frame.file, frame.line);
    if (line.empty()) return true;
    for (const char* sign : {"32", "31", "warp", "WARP", "Warp"})
      if (line.find(sign) != std::string::npos) return true;
    return false;
  }

  void constant(const Op& op, const ptx::Instruction& i) {
    if (i.operands.size() < 3 || !value_of(i.operands[2])) return;
    const Special from = origin(i.operands[1]);
    if (from != Special::kTidX) return;
    const std::uint64_t value = *value_of(i.operands[2]);
    std::string what;
    if (i.opcode == Opcode::k_and && value == 31) what = "threadIdx.x & 31";
    if (i.opcode == Opcode::k_shr && value == 5) what = "threadIdx.x / 32";
    if ((i.opcode == Opcode::k_div || i.opcode == Opcode::k_rem) && value == 32) what = "threadIdx.x / 32";
    if (i.opcode == Opcode::k_setp && (value == 31 || value == 32) && may_be_written(op))
      what = "threadIdx.x against 32";
    if (what.empty()) return;
    add(op, "D632", fmt::format("32 is written into the code ({}): {}", what, kWarp),
        "use warpSize, or a constant that depends on __MUSA_ARCH__; where groups of 32 are meant, give shuffles the "
        "width 32 and put barriers between the steps");
  }

  const Kernel& kernel_;
  const SourceLine& source_line_;
  std::unordered_map<std::uint32_t, Special> origin_;
  std::unordered_map<std::uint32_t, std::uint64_t> constants_;
  const Op* volatile_store_ = nullptr;  ///< since the last barrier, in this basic block
  std::set<std::string> seen_;
  std::vector<views::Finding> findings_;
};

views::Finding about_launch(const char* code, std::string text, std::string hint) {
  views::Finding finding;
  finding.code = code;
  finding.text = std::move(text);
  finding.hint = std::move(hint);
  finding.count = 1;
  return finding;
}

}  // namespace

bool gives_shuffle_width(const std::string& line) {
  std::size_t at = line.find("__shfl");
  at = at == std::string::npos ? at : line.find('(', at);
  if (at == std::string::npos) return false;
  int depth = 0, commas = 0;
  for (; at < line.size(); ++at) {
    if (line[at] == '(' || line[at] == '[' || line[at] == '{') ++depth;
    if (line[at] == ')' || line[at] == ']' || line[at] == '}') --depth;
    if (line[at] == ',' && depth == 1) ++commas;
    if (depth == 0) break;
  }
  return commas >= 3;
}

std::vector<views::Finding> wide_warp_findings(const Kernel& kernel, const SourceLine& source_line) {
  if (kernel.machine_code) return {};  // of NVIDIA's GPUs
  return Checker(kernel, source_line).run();
}

std::vector<views::Finding> wide_launch_findings(const arch::GpuSpec& gpu, std::uint32_t threads,
                                                 std::uint64_t static_shared, std::uint64_t dynamic_shared) {
  std::vector<views::Finding> findings;
  const auto warp = gpu.warp_size.known ? static_cast<std::uint32_t>(gpu.warp_size.as_int()) : 32u;
  if (warp > 32 && threads % warp != 0)
    findings.push_back(about_launch("D634",
                                    fmt::format("blocks of {} threads leave {} of {} lanes of their last warp idle",
                                                threads, warp - threads % warp, warp),
                                    fmt::format("make the block a multiple of {} threads", warp)));
  const std::uint64_t used = static_shared + dynamic_shared;
  if (!gpu.shared_per_block.known || used <= static_cast<std::uint64_t>(gpu.shared_per_block.as_int())) return findings;
  const std::uint64_t limit = static_cast<std::uint64_t>(gpu.shared_per_block.as_int());
  std::string hint = "use smaller tiles for this GPU (__MUSA_ARCH__)";
  if (gpu.shared_per_block_optin.known && static_shared <= limit)
    hint = fmt::format(
        "up to {} KiB are there after cudaFuncSetAttribute, for dynamic shared memory only; the call has been seen to "
        "fail, "
        "so check what it gives",
        gpu.shared_per_block_optin.as_int() / 1024);
  findings.push_back(
      about_launch("D635",
                   fmt::format("a block uses {} bytes of shared memory ({} static, {} dynamic), {} has {} KiB for one",
                               used, static_shared, dynamic_shared, gpu.full_name, limit / 1024),
                   std::move(hint)));
  return findings;
}

}  // namespace muscope::code
