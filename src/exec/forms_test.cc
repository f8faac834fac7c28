// Which forms of the opcode table have a handler: ptx::not_executed() must say the same.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "exec/control.h"
#include "exec/program.h"
#include "exec/test_kernel.h"
#include "ptx/opcodes.h"

namespace muscope::exec::testing {
namespace {

/// What came of the texts of one row: those that have a handler, and those that have none.
struct Tried {
  std::set<std::string> with, without;
};

class Forms {
 public:
  /// Every statement of tests/opcodes, each in a kernel of its own.
  std::map<const ptx::OpcodeRow*, Tried> try_all() {
    for (const auto& entry : std::filesystem::directory_iterator(MUSCOPE_SOURCE_DIR "/tests/opcodes"))
      if (entry.path().extension() == ".ptx") read(entry.path());
    return std::move(tried_);
  }

 private:
  void read(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const ptx::ParseResult parsed = ptx::parse(text.str(), path.filename().string());
    ASSERT_TRUE(parsed.diagnostics.empty()) << to_text(parsed.diagnostics.front());
    for (std::size_t f = 0; f < parsed.module.functions.size(); ++f)
      for (const ptx::Instruction& instruction : parsed.module.functions[f].body)
        attempt(parsed.module, f, instruction);
  }

  /// The function with this instruction alone, and one that ends it.
  void attempt(const ptx::Module& whole, std::size_t f, const ptx::Instruction& instruction) {
    ptx::Module module = whole;
    ptx::Function& function = module.functions[f];
    const bool entry = function.is_entry;
    ptx::Instruction end;
    end.row = &ptx::find_rows(ptx::Opcode::k_ret).front();
    end.opcode = ptx::Opcode::k_ret;
    function.body = {instruction, end};
    for (ptx::Label& label : function.labels) label.position = std::min(label.position, 1u);
    const std::string kernel = function.name;
    bool runs = true;
    try {
      code::LoadedModule loaded(std::make_shared<const ptx::Module>(std::move(module)), memory_);
      if (const auto code = entry ? loaded.kernel(kernel) : nullptr) {
        const auto program = decode(code);
        runs = std::none_of(program->ops.begin(), program->ops.end(),
                            [](const XOp& op) { return op.run == run_unsupported || op.inner == run_unsupported; });
      }
    } catch (const Error&) {
      runs = false;
    }
    (runs ? tried_[instruction.row].with : tried_[instruction.row].without).insert(instruction.text());
  }

  memory::AddressSpace memory_{std::uint64_t{1} << 28};
  std::map<const ptx::OpcodeRow*, Tried> tried_;
};

TEST(Forms, TheListOfWhatIsNotExecutedIsTrue) {
  const auto tried = Forms().try_all();
  std::string lines;
  for (const ptx::OpcodeRow& row : ptx::opcode_rows()) {
    ASSERT_TRUE(tried.contains(&row)) << row.form;
    const Tried& t = tried.at(&row);
    std::string without;
    for (const std::string& text : t.without) without += (without.empty() ? "" : " ") + text;
    if (t.with.empty()) without = "*";
    if (without == ptx::not_executed(row)) continue;
    lines += without.empty() ? "remove " : "MUSCOPE_NOT_EXECUTED(";
    lines += "\"" + std::string(row.form) + "\", \"" + without + "\")\n";
  }
  EXPECT_EQ(lines, "") << "lines for src/ptx/not_executed.inc";
}

}  // namespace
}  // namespace muscope::exec::testing
