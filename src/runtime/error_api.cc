// cudaGetLastError and its kin, and the common beginning and end of every call.
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <new>
#include <set>

#include "base/diagnostic.h"
#include "base/musa_names.h"
#include "runtime/control.h"
#include "runtime/entry.h"
#include "runtime/environment.h"
#include "runtime/host_object.h"
#include "runtime/process.h"
#include "runtime/program_names.h"
#include "runtime/runtime.h"
#include "runtime/spool.h"
#include "runtime/static_redirect.h"
#include "runtime/thread_use.h"

namespace muscope::runtime {
namespace {

/// By copy of the runtime (static_redirect.h): what cuBLAS probes must not be an error of the program's.
thread_local cudaError_t g_last_errors[kMostStaticCopies + 1] = {};

cudaError_t& last_error_of_copy() {
  const int copy = muscope_runtime_copy;
  return g_last_errors[copy >= 0 && copy <= kMostStaticCopies ? copy : 0];
}

struct ErrorRow {
  int code;
  const char* name;
  const char* text;
  const char* musa_name;
};

/// "musa" for "cuda" at the start of an error's name.
template <std::size_t kSize>
struct MusaName {
  constexpr explicit MusaName(const char (&name)[kSize]) {
    for (std::size_t i = 0; i < kSize; ++i) spelling[i] = name[i];
    spelling[0] = 'm';
    spelling[2] = 's';
  }
  char spelling[kSize] = {};
};

#define MUSCOPE_ERROR(code, name, text) constexpr MusaName kMusa_##name(#name);
#include "runtime/errors.inc"
#undef MUSCOPE_ERROR

constexpr ErrorRow kErrors[] = {
#define MUSCOPE_ERROR(code, name, text) {code, #name, text, kMusa_##name.spelling},
#include "runtime/errors.inc"
#undef MUSCOPE_ERROR
};

const ErrorRow* find_error(int code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

// What CUDA would have answered where muscope cannot go on.
cudaError_t code_of(const Error& error) {
  const std::string code = error.diagnostics().empty() ? std::string() : error.diagnostics().front().code;
  if (code.starts_with("D2")) return cudaErrorInvalidKernelImage;
  if (code == "D314") return cudaErrorMemoryAllocation;
  if (code.starts_with("D3")) return cudaErrorInvalidPtx;
  if (code == "D503" || code == "D509") return cudaErrorNoKernelImageForDevice;
  if (code == "D520") return cudaErrorMemoryAllocation;
  return cudaErrorNotSupported;
}

}  // namespace

void tell(const char* code, const std::string& cuda_text, const std::string& cuda_hint) {
  const std::string text = in_program_names(cuda_text), hint = in_program_names(cuda_hint);
  views::Finding finding;
  finding.code = code;
  finding.text = text;
  finding.hint = hint;
  finding.count = 1;
  Spool::of_process().finding(finding);
  if (!environment_value(kEnvRunDir).empty()) return;  // the report of the run says it
  static std::mutex* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (!said->insert(std::string(code) + text).second) return;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.text = text;
  diagnostic.hint = hint;
  const std::string message = to_text(diagnostic);
  std::fputs(message.c_str(), stderr);
}

const char* error_text(int code) noexcept {
  const ErrorRow* const row = find_error(code);
  return row ? row->text : "unrecognized error code";
}

const char* error_name(int code) noexcept {
  const ErrorRow* const row = find_error(code);
  if (row == nullptr) return "unrecognized error code";
  return speaks_musa() ? row->musa_name : row->name;
}

cudaError_t last_error(bool clear) noexcept {
  cudaError_t& last = last_error_of_copy();
  const cudaError_t error = last;
  if (clear) last = cudaSuccess;
  return error;
}

namespace detail {

cudaError_t end_call(cudaError_t error) noexcept {
  last_error_of_copy() = error;
  return error;
}

cudaError_t translate_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      for (const Diagnostic& d : error.diagnostics()) {
        const std::string place =
            d.where.file.empty() ? std::string() : " (" + d.where.file + ":" + std::to_string(d.where.line) + ")";
        if (d.severity == Severity::kError) tell(d.code.c_str(), d.text + place, d.hint);
      }
      return code_of(error);
    } catch (const std::bad_alloc&) {
      return cudaErrorMemoryAllocation;
    } catch (const std::exception& other) {
      tell("D502", std::string("the runtime met an unexpected error: ") + other.what(), "please report it");
    }
  } catch (...) {
  }
  return cudaErrorUnknown;
}

cudaError_t begin_call(Needs needs, Runtime*& runtime) noexcept {
  try {
    if (!enter_process()) return cudaErrorInitializationError;
    runtime = &Runtime::get();
    if (needs == Needs::kDevice) note_runtime_call();
    return needs == Needs::kDevice ? runtime->current_device().check_usable() : cudaSuccess;
  } catch (...) {
    const cudaError_t error = translate_exception();
    return error == cudaErrorMemoryAllocation ? error : cudaErrorInitializationError;
  }
}

}  // namespace detail

bool tell_library(const char* function) {
  const LibraryCall call = library_call();
  if (call.product.empty()) return false;
  tell("D516",
       call.product + " is missing from emulation: " + call.place() + " asks for " + function +
           ", which muscope does not have, and fails",
       "the rest of the program runs; see `muscope explain D516`");
  return true;
}

cudaError_t not_supported(const char* function) noexcept {
  try {
    if (!enter_process()) return detail::end_call(cudaErrorInitializationError);
    if (!tell_library(function))
      tell(
          "D501",
          std::string("the program called ") + function + ", which muscope does not have: it got cudaErrorNotSupported",
          "see `muscope explain D501`");
  } catch (...) {
  }
  return detail::end_call(cudaErrorNotSupported);
}

}  // namespace muscope::runtime

using muscope::runtime::error_name;
using muscope::runtime::error_text;
using muscope::runtime::last_error;

/// A program that was compiled with musa_runtime.h calls this before main.
MUSCOPE_EXPORT void muscope___cudaSpeakMusa() { muscope::runtime::speak_musa(); }

MUSCOPE_ENTRY(cudaGetLastError)() { return last_error(true); }

MUSCOPE_ENTRY(cudaPeekAtLastError)() { return last_error(false); }

MUSCOPE_EXPORT const char* muscope_cudaGetErrorName(cudaError_t error) { return error_name(static_cast<int>(error)); }

MUSCOPE_EXPORT const char* muscope_cudaGetErrorString(cudaError_t error) { return error_text(static_cast<int>(error)); }
