#include "runtime/machine_only.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/diagnostic.h"

namespace muscope::runtime {
namespace {

class Frame {
 public:
  explicit Frame(const code::MachineCode& code) : code_(code) {
    text_ = fmt::format(".version 8.0\n.target sm_{}\n.address_size 64\n",
                        code.info.virtual_sm != 0 ? code.info.virtual_sm : code.image.target.sm);
    const cubin::ConstantData* const bank = code.image.constant(3, "");
    if (bank != nullptr) name(*bank);
    for (const cubin::DataSection& section : code.image.data) name(section);
    if (bank != nullptr) variables(".const", *bank);
    for (const cubin::DataSection& section : code.image.data) variables(".global", section);
    for (const std::string& function : functions_) text_ += fmt::format(".visible .func {}() {{ ret; }}\n", function);
    for (const cubin::CubinKernel& kernel : code.info.kernels) this->kernel(kernel);
    text_ += pointers_;  // after what they point to
  }
  std::string take() { return std::move(text_); }

 private:
  template <typename Data>
  void name(const Data& data) {
    for (const cubin::ImageSymbol& symbol : data.symbols)
      if (symbol.size > 0) names_.insert(symbol.name);
  }

  template <typename Data>
  void variables(const char* space, const Data& data) {
    for (const cubin::ImageSymbol& symbol : data.symbols) {
      if (symbol.size == 0 || !declared_.insert(symbol.name).second) continue;
      const bool stored = symbol.offset <= data.bytes.size() && symbol.size <= data.bytes.size() - symbol.offset;
      std::vector<std::uint8_t> bytes;
      if (stored)
        bytes.assign(data.bytes.begin() + static_cast<std::ptrdiff_t>(symbol.offset),
                     data.bytes.begin() + static_cast<std::ptrdiff_t>(symbol.offset + symbol.size));
      std::vector<cubin::Relocation> inside;
      for (const cubin::Relocation& r : data.relocations)
        if (r.offset >= symbol.offset && r.offset - symbol.offset < symbol.size) inside.push_back(r);
      if (inside.empty())
        text_ += plain(space, symbol, bytes);
      else
        pointers_ += with_pointers(space, symbol, bytes, inside);
    }
  }

  static std::string plain(const char* space, const cubin::ImageSymbol& symbol,
                           const std::vector<std::uint8_t>& bytes) {
    std::string out = fmt::format(".visible {} .align 16 .b8 {}[{}]", space, symbol.name, symbol.size);
    if (std::any_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b != 0; }))
      out += fmt::format(" = {{{}}}", fmt::join(bytes, ","));
    return out + ";\n";
  }

  std::string with_pointers(const char* space, const cubin::ImageSymbol& symbol, std::vector<std::uint8_t> bytes,
                            const std::vector<cubin::Relocation>& relocations) {
    bytes.resize((symbol.size + 7) / 8 * 8);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, 8);
      words.push_back(fmt::format("{}", word));
    }
    for (const cubin::Relocation& r : relocations) {
      const std::uint64_t at = r.offset - symbol.offset;
      // Linked code: the address of a function, which LoadedModule takes from the machine code; or a kernel.
      if (at % 8 == 0 && r.place == cubin::SymbolPlace::kCode && !r.symbol.starts_with('.')) {
        if (code_.info.kernel(r.symbol) == nullptr) functions_.insert(r.symbol);
        words[at / 8] = r.symbol;
        continue;
      }
      if (at % 8 != 0 || names_.count(r.symbol) == 0)
        fail("D509",
             fmt::format("'{}' in {} holds the address of '{}', which muscope cannot place without PTX", symbol.name,
                         code_.source, r.symbol),
             "build it with PTX too: nvcc -arch=sm_90; modules with -fatbin or -ptx in place of -cubin");
      words[at / 8] = fmt::format("generic({})+{}", r.symbol, r.addend);
    }
    return fmt::format(".visible {} .align 16 .b64 {}[{}] = {{{}}};\n", space, symbol.name, words.size(),
                       fmt::join(words, ","));
  }

  void kernel(const cubin::CubinKernel& kernel) {
    std::vector<std::string> parameters;
    if (const cubin::FunctionFacts* const facts = code_.image.facts_of(kernel.name)) {
      std::vector<cubin::KernelParameter> sorted = facts->parameters;
      std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
      for (const cubin::KernelParameter& p : sorted) {
        // The largest power of two that offset allows: offsets in PTX then come out as the cubin has them.
        const std::uint32_t align = p.offset == 0 ? 16 : std::min<std::uint32_t>(p.offset & (~p.offset + 1), 16);
        parameters.push_back(fmt::format(".param .align {} .b8 muscope_p{}[{}]", align, p.ordinal, p.size));
      }
    }
    text_ += fmt::format(".visible .entry {}({})\n", kernel.name, fmt::join(parameters, ", "));
    const auto limit = [this](const char* name, const std::array<std::uint32_t, 3>& threads) {
      if (threads[0] != 0)
        text_ += fmt::format("{} {}, {}, {}\n", name, threads[0], std::max(threads[1], 1u), std::max(threads[2], 1u));
    };
    limit(".maxntid", kernel.max_threads);
    limit(".reqntid", kernel.required_threads);
    text_ += "{\n";
    if (kernel.static_shared > 0)
      text_ += fmt::format(".shared .align 16 .b8 muscope_shared[{}];\n", kernel.static_shared);
    text_ += "nanosleep.u32 0;\nret;\n}\n";
  }

  const code::MachineCode& code_;
  std::string text_, pointers_;
  std::set<std::string> names_, declared_, functions_;
};

}  // namespace

std::string ptx_frame(const code::MachineCode& code) { return Frame(code).take(); }

}  // namespace muscope::runtime
