#include "runtime/machine_choice.h"

#include "exec/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/assembly_message.h"
#include "base/diagnostic.h"
#include "base/message_socket.h"
#include "runtime/control.h"
#include "runtime/machine_targets.h"
#include "runtime/raw_io.h"
#include "runtime/spool.h"
#include "views/records.h"

namespace muscope::runtime {
namespace {

/// Reads a cubin. Throws Error when it is damaged.
std::shared_ptr<const code::MachineCode> code_of(const std::string& bytes, std::string source) {
  const std::span<const std::uint8_t> cubin(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  auto code = std::make_shared<code::MachineCode>();
  code->executable = exec::can_execute;
  code->image = cubin::read_code_image(cubin);
  code->info = cubin::read_cubin(cubin);
  code->source = std::move(source);
  return code;
}

MachineChoice from_program(const cubin::FatbinEntry& entry) {
  const std::string name = "cubin sm_" + cubin::to_string(entry.target) + " in the program";
  MachineChoice choice;
  try {
    choice.code = code_of(cubin::payload(entry), name);
    if (!choice.code->image.relocatable) return choice;
    choice.problem = "the " + name + " is not linked";
  } catch (const Error& error) {
    choice.problem = "the " + name + " cannot be read: " + error.diagnostics().front().text;
  }
  choice.code = nullptr;
  return choice;
}

/// Without a version when there is no ptxas, or nobody who could ask it.
AssemblyReply ask(const RunOptions& options, const AssemblyRequest& request) {
  if (options.run_dir.empty()) return {};
  const KeepErrno keep;
  const volatile std::uint32_t* const stop = Spool::of_process().stop_flag();
  const MessageSocket::Stop stopped = [stop] { return *stop != 0; };
  // A connection for each request: the program may close descriptors, or fork, between two of them.
  const MessageSocket connection = MessageSocket::connect_to(options.run_dir + '/' + kAssemblerName, stopped);
  std::string message;
  if (!connection.valid()) return {};
  AssemblyReply none;
  none.reason = "the run ended before ptxas did";
  if (!connection.send(encode(request), stopped) || !connection.receive(message, kLargestAssemblyMessage, 0, stopped))
    return none;
  return decode_assembly_reply(message).value_or(none);
}

/// LLVM stamps its PTX. Whoever made it with clang has it assembled by whatever ptxas there is.
bool made_by_llvm(std::string_view ptx) {
  constexpr std::size_t kPreamble = 1024;
  return ptx.substr(0, kPreamble).find("LLVM NVPTX") != ptx.npos;
}

MachineChoice from_ptxas(const ChosenPtx& ptx, bool relocatable, int sm, const RunOptions& options) {
  MachineChoice choice;
  AssemblyRequest request;
  request.sm = sm;
  request.relocatable = relocatable;
  for (const ChosenPtx::Part& part : ptx.parts) {
    // Code of one part that needs the variant's features makes all of it code of the variant.
    if (part.entry->target.sm == sm && part.entry->target.variant != 0) request.variant = part.entry->target.variant;
    request.parts.push_back({std::string(part.text), part.entry->options});
  }
  const AssemblyReply reply = ask(options, request);
  if (reply.version.empty()) {
    choice.problem = reply.reason.empty() ? views::kNoPtxas : reply.reason;
    return choice;
  }
  const std::string name = "ptxas " + reply.version + (relocatable ? " and nvlink" : "");
  if (reply.cubin.empty()) {
    choice.problem = name + ": " + reply.reason;
    return choice;
  }
  try {
    choice.code = code_of(reply.cubin, name);
  } catch (const Error& error) {
    choice.problem = "what " + name + " made cannot be read: " + error.diagnostics().front().text;
    return choice;
  }
  for (const ChosenPtx::Part& part : ptx.parts)
    if (!made_by_llvm(part.text) && choice.other_release.empty())
      choice.other_release = other_release(part.entry->version_major, part.entry->version_minor, reply.version);
  if (!choice.other_release.empty()) choice.problem = views::kOtherRelease + choice.other_release;
  return choice;
}

}  // namespace

std::string other_release(int ptx_major, int ptx_minor, std::string_view version) {
  // PTX ISA, "Release History". Between the exceptions the minor versions are the same.
  struct Row {
    int ptx_major, ptx_minor;
    const char* first;
    const char* last;
  };
  constexpr Row kRows[] = {{6, 3, "10.0", "10.0"}, {6, 4, "10.1", "10.1"}, {6, 5, "10.2", "10.2"},
                           {8, 5, "12.5", "12.6"}, {8, 6, "12.7", "12.7"}, {8, 7, "12.8", "12.8"},
                           {8, 8, "12.9", "12.9"}};
  const int cuda_major = ptx_major + (ptx_major == 6 ? 3 : 4);
  std::string first = fmt::format("{}.{}", cuda_major, ptx_minor), last = first;
  for (const Row& row : kRows) {
    if (row.ptx_major == ptx_major && row.ptx_minor == ptx_minor) first = row.first, last = row.last;
  }
  const auto is = [&](const std::string& release) { return version.starts_with(release + '.') || version == release; };
  return is(first) || is(last) ? std::string() : first;
}

MachineChoice choose_machine_code(const cubin::Fatbin& fatbin, const ChosenPtx& ptx, int sm,
                                  const RunOptions& options) {
  MachineChoice choice;
  if (options.count_from == CountFrom::kPtx) return choice;
  if (!machine_code_known(sm)) {
    if (options.count_from == CountFrom::kMachine)
      choice.problem = fmt::format("muscope does not know the machine code of sm_{}", sm);
    return choice;
  }
  if (const cubin::FatbinEntry* const entry = cubin::choose_cubin(fatbin.entries, sm)) return from_program(*entry);
  if (ptx.parts.empty() || ptx.incomplete) {
    choice.problem = "not every file of it has PTX, and there is no linked cubin for this GPU";
  } else if (ptx.not_for_target) {
    choice.problem = "its PTX is for a later GPU";
  } else {
    choice = from_ptxas(ptx, fatbin.relocatable, sm, options);
  }
  return choice;
}

}  // namespace muscope::runtime
