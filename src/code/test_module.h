// For tests: PTX text -> module, flow graph, kernel.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "code/control_flow.h"
#include "code/kernel.h"
#include "code/loaded_module.h"
#include "memory/address_space.h"
#include "ptx/parser.h"

namespace muscope::code::testing {

/// Parses `body` behind a header of three lines. Parse errors fail the test.
inline std::shared_ptr<const ptx::Module> parse(std::string_view body) {
  const std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n" + std::string(body);
  ptx::ParseResult parsed = ptx::parse(text, "test.ptx");
  for (const Diagnostic& d : parsed.diagnostics) EXPECT_NE(d.severity, Severity::kError) << to_text(d);
  return std::make_shared<const ptx::Module>(std::move(parsed.module));
}

inline const ptx::Function& function(const ptx::Module& module, std::string_view name) {
  const std::uint32_t index = module.find_function(name);
  EXPECT_NE(index, ptx::kNoIndex) << name;
  return module.functions[index];
}

/// The code of an error that `f` throws; empty when it throws none.
template <typename F>
std::string error_code(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.diagnostics().front().code;
  }
  return {};
}

}  // namespace muscope::code::testing
