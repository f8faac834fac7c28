// Reads a program's ELF headers, symbols and fat binaries.
#include "cubin/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "cubin/byte_reader.h"
#include "cubin/elf_view.h"
#include "cubin/static_runtime.h"

namespace muscope::cubin {
namespace {

constexpr std::uint16_t kMachineX86_64 = 62;
constexpr std::uint16_t kTypeRelocatable = 1;
constexpr std::uint16_t kTypeCore = 4;
constexpr std::uint32_t kSegmentLoad = 1;
constexpr std::uint32_t kSegmentDynamic = 2;
constexpr std::uint32_t kSegmentInterpreter = 3;
constexpr std::uint32_t kSectionSymbols = 2;
constexpr std::uint32_t kSectionDynamicSymbols = 11;
constexpr std::uint64_t kMaxLinkCubin = 64 * 1024;  // larger ones have kernels for sure

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case 3:
      return "32-bit x86";
    case 8:
      return "MIPS";
    case 20:
    case 21:
      return "PowerPC";
    case 40:
      return "32-bit ARM";
    case 183:
      return "AArch64 (64-bit ARM)";
    case 190:
      return "an NVIDIA GPU (a cubin)";
    case 243:
      return "RISC-V";
    default:
      return fmt::format("machine {}", machine);
  }
}

// ---- dynamic section ----

std::optional<std::uint64_t> file_offset(const ElfView& elf, std::uint64_t address) {
  for (const ElfSegment& segment : elf.segments()) {
    if (segment.type == kSegmentLoad && address >= segment.address && address - segment.address < segment.file_size) {
      return segment.offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

std::vector<std::string> needed_libraries(const ElfView& elf) {
  const auto dynamic = std::find_if(elf.segments().begin(), elf.segments().end(),
                                    [](const ElfSegment& segment) { return segment.type == kSegmentDynamic; });
  if (dynamic == elf.segments().end() || !inside(elf.bytes().size(), dynamic->offset, dynamic->file_size)) return {};
  const Bytes table = elf.bytes().subspan(dynamic->offset, dynamic->file_size);
  std::vector<std::uint64_t> names;
  std::uint64_t strings_address = 0;
  std::uint64_t strings_size = 0;
  for (std::uint64_t at = 0; inside(table.size(), at, 16); at += 16) {
    constexpr std::int64_t kEnd = 0, kNeeded = 1, kStrings = 5, kStringsSize = 10;
    const auto tag = read_at<std::int64_t>(table, at);
    const auto value = read_at<std::uint64_t>(table, at + 8);
    if (tag == kEnd) break;
    if (tag == kNeeded) names.push_back(value);
    if (tag == kStrings) strings_address = value;
    if (tag == kStringsSize) strings_size = value;
  }
  const auto strings_at = file_offset(elf, strings_address);
  if (!strings_at || !inside(elf.bytes().size(), *strings_at, strings_size)) return {};
  std::vector<std::string> needed;
  for (const std::uint64_t name : names) {
    needed.emplace_back(ElfView::string_at(elf.bytes().subspan(*strings_at, strings_size), name));
  }
  return needed;
}

// ---- runtime ----

bool is_runtime_call(std::string_view name) {
  return name == "__cudaRegisterFatBinary" || name == "cudaMalloc" || name == "cudaLaunchKernel" ||
         name == "__musaRegisterFatBinary" || name == "musaMalloc" || name == "musaLaunchKernel" ||
         name == "cudaGetDeviceCount" || name == "cudaMemcpy";
}

void find_runtime(const ElfView& elf, ProgramInspection& program) {
  for (const std::string& library : program.needed) {
    const bool musa = library.starts_with("libmusart.so");
    if (musa || library.starts_with("libcudart.so")) {
      program.runtime = RuntimeLink::kShared;
      program.runtime_soname = library;
      program.musa = musa;
    }
    if (library.starts_with("libcuda.so") || library.starts_with("libmusa.so")) program.driver_api = true;
  }
  bool imported = false;
  bool contained = false;
  for (const ElfSection& section : elf.sections()) {
    if (section.type != kSectionSymbols && section.type != kSectionDynamicSymbols) continue;
    elf.for_each_symbol(section, [&](std::uint32_t, const ElfSymbol& symbol) {
      if (is_runtime_call(symbol.name)) {
        (symbol.section == 0 ? imported : contained) = true;
        program.musa = program.musa || symbol.name.find("musa") != std::string_view::npos;
      }
      return !contained;
    });
  }
  if (program.runtime == RuntimeLink::kShared) return;
  if (contained) {
    program.runtime = RuntimeLink::kStatic;
  } else if (imported) {
    program.runtime = RuntimeLink::kShared;
  }
}

// ---- device code ----

// nvcc adds a cubin of its device link step to every program; without -rdc it is empty and never used.
bool is_empty_link_cubin(const FatbinEntry& entry) {
  if (entry.kind != EntryKind::kCubin || entry.size > kMaxLinkCubin) return false;
  const std::string cubin = payload(entry);
  std::string why;
  const auto elf = ElfView::parse(Bytes(reinterpret_cast<const std::uint8_t*>(cubin.data()), cubin.size()), why);
  if (!elf) return false;
  return std::none_of(elf->sections().begin(), elf->sections().end(), [](const ElfSection& section) {
    return section.name.starts_with(".text.") || section.name == ".nv.global";
  });
}

void note_problem(ProgramInspection& program, const Diagnostic& diagnostic) {
  if (!program.code_problem.empty()) return;
  program.code_problem = diagnostic.text;
  program.code_problem_code = diagnostic.code;
}

bool mentions_lines(const FatbinEntry& entry) {
  if (!entry.object_name.empty() || entry.debug) return true;
  if (entry.kind != EntryKind::kPtx || entry.compression != Compression::kNone) return false;
  const std::string_view text(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
  return text.find("\n.loc") != std::string_view::npos || text.find("\t.loc") != std::string_view::npos;
}

void add_code(const Fatbin& fatbin, bool relocatable, ProgramInspection& program) {
  for (const FatbinEntry& entry : fatbin.entries) {
    try {
      if (is_empty_link_cubin(entry)) continue;
    } catch (const Error& error) {
      note_problem(program, error.diagnostics().front());
    }
    if (entry.compression == Compression::kUnknown) {
      note_problem(program, {Severity::kError,
                             "D209",
                             fmt::format("the fat binary is compressed in an unknown way (flags {:#x})", entry.flags),
                             {},
                             {}});
    }
    ProgramCode code;
    code.kind = entry.kind;
    code.target = entry.target;
    code.version_major = entry.version_major;
    code.version_minor = entry.version_minor;
    code.compression = entry.compression;
    code.debug = entry.debug;
    code.line_info = mentions_lines(entry);
    code.relocatable = relocatable;
    program.code.push_back(code);
  }
}

void find_code(const ElfView& elf, ProgramInspection& program) {
  for (const ElfSection& section : elf.sections()) {
    const bool relocatable = section.name == "__nv_relfatbin";
    if ((section.name != ".nv_fatbin" && !relocatable) || section.bytes.empty()) continue;
    program.relocatable_code = program.relocatable_code || relocatable;
    std::vector<Diagnostic> problems;
    add_code(decode_available(section.bytes, problems), relocatable, program);
    for (const Diagnostic& problem : problems) note_problem(program, problem);
  }
}

void inspect_script(Bytes bytes, ProgramInspection& program) {
  program.kind = ProgramKind::kScript;
  constexpr std::size_t kLongest = 256;  // BINPRM_BUF_SIZE: the kernel looks no further
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kLongest));
  std::string_view line =
      text.substr(2, text.find('\n') == std::string_view::npos ? std::string_view::npos : text.find('\n') - 2);
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t\r");
  if (first != std::string_view::npos) program.interpreter = std::string(line.substr(first, last - first + 1));
}

/// A file mapped for reading; closed and unmapped at the end.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) { open(path); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  const std::string& problem() const { return problem_; }
  Bytes bytes() const { return {static_cast<const std::uint8_t*>(data_), data_ == nullptr ? 0 : size_}; }
  const struct ::stat& status() const { return status_; }

 private:
  void set_problem(std::string_view problem) { problem_ = problem; }

  void open(const std::string& path) {
    // Not blocking: opening a pipe without a writer would hang.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) return set_problem(std::strerror(errno));
    if (::fstat(descriptor_, &status_) != 0) return set_problem(std::strerror(errno));
    if (S_ISDIR(status_.st_mode)) return set_problem("it is a directory");
    if (!S_ISREG(status_.st_mode)) return set_problem("it is not a regular file");
    if (status_.st_size == 0) return;
    size_ = static_cast<std::size_t>(status_.st_size);
    void* at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (at == MAP_FAILED) return set_problem(std::strerror(errno));
    data_ = at;
  }

  int descriptor_ = -1;
  struct ::stat status_{};
  std::size_t size_ = 0;
  void* data_ = nullptr;
  std::string problem_;
};

}  // namespace

bool ProgramInspection::has_ptx() const {
  return std::any_of(code.begin(), code.end(), [](const ProgramCode& entry) { return entry.kind == EntryKind::kPtx; });
}

ProgramInspection inspect_program_bytes(std::string path, Bytes bytes) {
  ProgramInspection program;
  program.path = std::move(path);
  if (bytes.size() >= 2 && bytes[0] == '#' && bytes[1] == '!') {
    inspect_script(bytes, program);
    return program;
  }
  if (!ElfView::looks_like_elf(bytes)) {
    program.kind = ProgramKind::kNotElf;
    program.problem = bytes.empty() ? "the file is empty" : "it does not begin like an ELF file";
    return program;
  }
  // The machine first: a 32-bit file fails all other checks.
  const auto machine = read_at<std::uint16_t>(bytes, 18);
  if (bytes.size() >= 20 && machine != kMachineX86_64) {
    program.kind = ProgramKind::kWrongMachine;
    program.problem = machine_name(machine);
    return program;
  }
  const auto elf = ElfView::parse(bytes, program.problem);
  if (!elf) {
    program.kind = ProgramKind::kDamaged;
    return program;
  }
  if (elf->type() == kTypeRelocatable || elf->type() == kTypeCore) {
    program.kind = ProgramKind::kNotProgram;
    program.problem = elf->type() == kTypeCore ? "it is a core dump" : "it is an object file that was not linked yet";
    return program;
  }
  program.kind = ProgramKind::kProgram;
  program.fully_static = std::none_of(elf->segments().begin(), elf->segments().end(),
                                      [](const ElfSegment& segment) { return segment.type == kSegmentInterpreter; });
  program.needed = needed_libraries(*elf);
  find_runtime(*elf, program);
  find_code(*elf, program);
  // Device code is of no use without a runtime: one that is not imported must be inside.
  if (program.runtime == RuntimeLink::kNone && !program.code.empty())
    program.runtime = find_stripped_runtime(*elf).empty() ? RuntimeLink::kStaticStripped : RuntimeLink::kStatic;
  return program;
}

ProgramInspection inspect_program(const std::string& path) {
  const MappedFile file(path);
  if (!file.problem().empty()) {
    ProgramInspection program;
    program.path = path;
    program.problem = file.problem();
    return program;
  }
  ProgramInspection program = inspect_program_bytes(path, file.bytes());
  program.executable = ::access(path.c_str(), X_OK) == 0;
  program.set_user_id = (file.status().st_mode & (S_ISUID | S_ISGID)) != 0;
  return program;
}

}  // namespace muscope::cubin
