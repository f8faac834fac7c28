// The conformance suite's table of PTX forms (forms.tsv), and what is made of each: a kernel, its inputs, a digest of
// its results. Plain C++ without other parts of the repository: the program that runs on a GPU uses it as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muscope::conformance {

/// One kernel: each thread takes a value for every operand and stores every result.
struct Form {
  std::string name;                   ///< "add.s32", or with a variant: "shl.b32#33"
  std::string group;                  ///< "exact", or "approximate": functions of the special function unit
  std::vector<std::string> results;   ///< types: "f32"; registers %r %s %t %u %v %w %x %y
  std::vector<std::string> operands;  ///< types, or kinds of values: "amount"; registers %a %b %c %d %e %f %g %h
  std::string body;    ///< PTX; %in and %out are where the thread's values lie, %cell 16 bytes in shared memory
  std::string before;  ///< PTX of the module: `callee` or `table`
};

/// Bytes of a value of the type in its register; 0 when there is no such type. A predicate is stored as 4 bytes.
unsigned bytes_of(const std::string& type);

/// Reads the table. Lines: name, result types, operand types, PTX when it is not "NAME results, operands;",
/// and PTX that stands before the kernel.
/// {a,b} in a name makes one form for each alternative; $1 to $9 stand for what was chosen, $0 for the name without
/// variant. "= GROUP" begins a group. Throws std::runtime_error.
std::vector<Form> read_forms(const std::string& path);

/// Threads that run a form: a multiple of kBlock.
std::size_t tuples(const Form& form);
inline constexpr unsigned kBlock = 128;
/// The PTX version and target that every form needs at most.
inline constexpr const char* kHeader = ".version 8.6\n.target sm_90\n.address_size 64\n";

/// For each thread its operands, 8 bytes each. The same from run to run and machine to machine.
std::vector<std::uint64_t> inputs(const Form& form);

/// Module with a kernel per form: f0, f1, ... (.param .u64 in, .param .u64 out); each thread stores its results from
/// out + 8 * results * index on, 8 bytes each.
std::string module_text(std::span<const Form> forms);

/// The results of a form as bytes, result by result and no wider than their types.
std::string packed(const Form& form, std::span<const std::uint64_t> results);
std::size_t packed_bytes(const Form& form);
std::vector<std::uint64_t> unpacked(const Form& form, const std::string& bytes);

/// FNV-1a over the results of all threads, in order.
std::uint64_t digest(std::span<const std::uint64_t> results);

}  // namespace muscope::conformance
