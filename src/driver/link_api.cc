// The linker: cuLink*. Inputs are kept and checked; ptxas and nvlink see them when the result is loaded.
#include <fstream>
#include <iterator>
#include <list>

#include "base/diagnostic.h"
#include "driver/entry.h"
#include "driver/jit.h"
#include "driver/link_image.h"
#include "ptx/parser.h"
#include "runtime/handles.h"

using namespace muscope::driver;

namespace {

struct Link {
  Jit jit;
  std::list<std::string> bytes;  ///< copies of the inputs, which the units point into
  std::vector<std::vector<muscope::cubin::FatbinEntry>> units;
  bool failed = false;
  std::string image;
};

muscope::runtime::Handles<Link>& links() {
  static auto* const all = new muscope::runtime::Handles<Link>;
  return *all;
}

// Errors of the text, without what muscope only does not know.
void check_ptx(const muscope::cubin::FatbinEntry& entry, const std::string& name) {
  const muscope::ptx::ParseResult result = muscope::ptx::parse(muscope::cubin::payload(entry), name);
  for (const muscope::Diagnostic& d : result.diagnostics)
    if (d.severity == muscope::Severity::kError && d.code != "D301" && d.code != "D302")
      throw muscope::Error(result.diagnostics);
}

bool has_ptx(const std::vector<muscope::cubin::FatbinEntry>& unit) {
  for (const auto& entry : unit)
    if (entry.kind == muscope::cubin::EntryKind::kPtx) return true;
  return false;
}

void add(Link& link, CUjitInputType type, std::string input, const std::string& name, const std::string& options) {
  const std::string& copy = link.bytes.emplace_back(std::move(input));
  const muscope::cubin::Bytes bytes(reinterpret_cast<const std::uint8_t*>(copy.data()), copy.size());
  std::vector<std::vector<muscope::cubin::FatbinEntry>> units;
  if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY)
    units = device_code_of(bytes);
  else
    units.push_back(muscope::cubin::decode_bytes(bytes).entries);
  for (auto& unit : units) {
    for (auto& entry : unit) {
      if (entry.kind != muscope::cubin::EntryKind::kPtx) continue;
      check_ptx(entry, name);
      if (!options.empty()) entry.options += (entry.options.empty() ? "" : " ") + options;
    }
    link.units.push_back(std::move(unit));
  }
}

CUresult add_input(CUlinkState state, CUjitInputType type, std::string input, const std::string& name, unsigned count,
                   CUjit_option* options, void** values) {
  const auto link = links().find(state);
  if (!link) return CUDA_ERROR_INVALID_HANDLE;
  if (type == CU_JIT_INPUT_NVVM) return not_supported("cuLinkAddData with NVVM code");
  if (static_cast<unsigned>(type) > CU_JIT_INPUT_NVVM || input.empty()) return CUDA_ERROR_INVALID_VALUE;
  Jit own;
  if (const CUresult result = own.read(count, options, values)) return result;
  std::string compile = link->jit.ptxas_options();
  if (const std::string more = own.ptxas_options(); !more.empty()) compile += (compile.empty() ? "" : " ") + more;
  try {
    add(*link, type, std::move(input), name, compile);
  } catch (const muscope::Error& error) {
    link->failed = true;
    link->jit.errors(error);
    link->jit.finish();
    if (type == CU_JIT_INPUT_PTX) {
      muscope::fail("D510",
                    "the PTX that the program links (" + name + ") has errors: " + error.diagnostics().front().text,
                    "correct the PTX", error.diagnostics().front().where);
    }
    throw;
  }
  return CUDA_SUCCESS;
}

CUresult complete(Link& link, void** cubin, std::size_t* size) {
  if (cubin == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (link.failed || link.units.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (link.image.empty()) {
    if (link.units.size() > 1)
      for (const auto& unit : link.units)
        if (!has_ptx(unit))
          muscope::fail(
              "D511",
              "the program links device code without PTX (" + muscope::cubin::describe(unit) + ") to other code",
              "give the linker PTX, or fat binaries that have it");
    link.image = make_link_image(link.units);
  }
  link.jit.finish();
  *cubin = link.image.data();
  if (size != nullptr) *size = link.image.size();
  return CUDA_SUCCESS;
}

}  // namespace

MUSCOPE_DRIVER_ENTRY(cuLinkCreate_v2)(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return enter([&](Runtime&) -> CUresult {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto link = std::make_shared<Link>();
    if (const CUresult result = link->jit.read(count, options, values)) return result;
    *state = reinterpret_cast<CUlinkState>(links().add(std::move(link)));
    return CUDA_SUCCESS;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLinkAddData_v2)(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                                       const char* name, unsigned count, CUjit_option* options, void** values) {
  return enter([&](Runtime&) -> CUresult {
    if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    return add_input(state, type, std::string(static_cast<const char*>(data), size), name ? name : "linked input",
                     count, options, values);
  });
}

MUSCOPE_DRIVER_ENTRY(cuLinkAddFile_v2)(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                                       CUjit_option* options, void** values) {
  return enter([&](Runtime&) -> CUresult {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    return add_input(state, type, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, path, count,
                     options, values);
  });
}

MUSCOPE_DRIVER_ENTRY(cuLinkComplete)(CUlinkState state, void** cubin, std::size_t* size) {
  return enter([&](Runtime&) -> CUresult {
    const auto link = links().find(state);
    return link ? complete(*link, cubin, size) : CUDA_ERROR_INVALID_HANDLE;
  });
}

MUSCOPE_DRIVER_ENTRY(cuLinkDestroy)(CUlinkState state) {
  return enter(Needs::kInit,
               [&](Runtime&) -> CUresult { return links().drop(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}
