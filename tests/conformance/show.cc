// Shows what forms give under muscope, and where that differs.
//   show_conformance digests ptx|sass              like the GPU's program: form, threads, digest
//   show_conformance values ptx|sass          all results as bytes, like the GPU's program
//   show_conformance summary                       how many forms have the bits of h200.tsv
//   show_conformance both [FORM]                   machine code (second) against PTX (first)
//   show_conformance compare ptx|sass VALUES [FORM]  against results that the GPU's program wrote
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>

#include "run.h"

namespace muscope::conformance {
namespace {

constexpr std::size_t kPerModule = 100;

/// Runs the forms whose name begins with `only`, module by module.
std::vector<Outcome> run_all(const std::vector<Form>& forms, bool machine) {
  std::vector<Outcome> all;
  for (std::size_t at = 0; at < forms.size(); at += kPerModule) {
    const std::span<const Form> part(&forms[at], std::min(kPerModule, forms.size() - at));
    std::string cubin, problem;
    if (machine) {
      cubin = assemble(module_text(part), problem);
      if (cubin.empty()) std::fprintf(stderr, "no machine code: %s\n", problem.c_str());
    }
    for (Outcome& outcome : run_forms(part, cubin)) all.push_back(std::move(outcome));
  }
  return all;
}

/// Prints the first tuples that differ. Whether there are any.
bool show(const Form& form, const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second,
          std::size_t most) {
  const std::vector<std::uint64_t> in = inputs(form);
  const std::size_t n = form.operands.size(), r = form.results.size(), threads = tuples(form);
  std::size_t different = 0;
  std::string examples;
  for (std::size_t t = 0; t < threads; ++t) {
    if (std::equal(&first[t * r], &first[t * r] + r, &second[t * r])) continue;
    if (different++ >= most) continue;
    char text[64];
    const auto put = [&](const char* before, const std::uint64_t* values, std::size_t count) {
      examples += before;
      for (std::size_t i = 0; i < count; ++i) {
        std::snprintf(text, sizeof text, " %" PRIx64, values[i]);
        examples += text;
      }
    };
    put("   ", n ? &in[t * n] : nullptr, n);
    put("  :", &first[t * r], r);
    put("  |", &second[t * r], r);
    examples += '\n';
  }
  if (different) std::printf("%s: %zu of %zu\n%s", form.name.c_str(), different, threads, examples.c_str());
  return different != 0;
}

int both(const std::vector<Form>& forms, std::size_t most) {
  const std::vector<Outcome> ptx = run_all(forms, false), sass = run_all(forms, true);
  std::size_t different = 0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!ptx[i].problem.empty()) std::printf("%s: PTX: %s\n", forms[i].name.c_str(), ptx[i].problem.c_str());
    if (!sass[i].problem.empty()) std::printf("%s: machine code: %s\n", forms[i].name.c_str(), sass[i].problem.c_str());
    if (ptx[i].results.empty() || sass[i].results.empty()) continue;
    different += show(forms[i], ptx[i].results, sass[i].results, most);
  }
  std::printf("%zu of %zu forms differ\n", different, forms.size());
  return different != 0;
}

int compare(const std::vector<Form>& all, const std::vector<Form>& forms, bool machine, const char* path,
            std::size_t most) {
  const std::vector<Outcome> mine = run_all(forms, machine);
  std::ifstream in(path, std::ios::binary);
  std::size_t different = 0, at = 0;
  for (const Form& form : all) {
    std::string bytes(packed_bytes(form), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!in) break;
    if (at == forms.size() || forms[at].name != form.name) continue;
    const Outcome& outcome = mine[at++];
    if (!outcome.problem.empty()) std::printf("%s: %s\n", form.name.c_str(), outcome.problem.c_str());
    if (!outcome.results.empty()) different += show(form, outcome.results, unpacked(form, bytes), most);
  }
  std::printf("%zu of %zu forms differ\n", different, at);
  return different != 0;
}

int summary(const std::vector<Form>& forms) {
  std::ifstream in(MUSCOPE_SOURCE_DIR "/tests/conformance/h200.tsv");
  std::vector<std::string> hardware;
  for (std::string line; std::getline(in, line);) hardware.push_back(line.substr(line.rfind('\t') + 1));
  const std::vector<Outcome> ptx = run_all(forms, false), sass = run_all(forms, true);
  std::size_t equal_ptx = 0, equal_sass = 0, executed_ptx = 0, executed_sass = 0, results = 0;
  for (std::size_t i = 0; i < forms.size() && i < hardware.size(); ++i) {
    const std::uint64_t want = std::strtoull(hardware[i].c_str(), nullptr, 16);
    results += tuples(forms[i]);
    executed_ptx += !ptx[i].results.empty();
    executed_sass += sass[i].from_machine_code;
    equal_ptx += digest(ptx[i].results) == want;
    equal_sass += sass[i].from_machine_code && digest(sass[i].results) == want;
  }
  std::printf("forms %zu, threads %zu\nPTX: executed %zu, equal %zu\nmachine code: executed %zu, equal %zu\n",
              forms.size(), results, executed_ptx, equal_ptx, executed_sass, equal_sass);
  return 0;
}

int main_of(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const bool machine = count > 2 && std::strcmp(words[2], "sass") == 0;
  const std::vector<Form> all = read_forms(MUSCOPE_SOURCE_DIR "/tests/conformance/forms.tsv");
  std::vector<Form> forms = all;
  const int name = what == "both" ? 2 : what == "compare" ? 4 : count;
  const std::size_t most = name < count ? 40 : 3;
  if (name < count) std::erase_if(forms, [&](const Form& f) { return !f.name.starts_with(words[name]); });
  if (what == "summary") return summary(all);
  if (what == "both") return both(forms, most);
  if (what == "compare" && count > 3) return compare(all, forms, machine, words[3], most);
  if (what != "digests" && what != "values") {
    std::fputs(
        "usage: show_conformance digests|values ptx|sass | summary | both [FORM] | compare ptx|sass VALUES [FORM]\n",
        stderr);
    return 2;
  }
  std::vector<Outcome> outcomes = run_all(forms, machine);
  for (std::size_t i = 0; i < forms.size() && what == "values"; ++i) {
    outcomes[i].results.resize(tuples(forms[i]) * forms[i].results.size());
    const std::string bytes = packed(forms[i], outcomes[i].results);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
  for (std::size_t i = 0; i < forms.size() && what == "digests"; ++i)
    std::printf("%s\t%zu\t%016" PRIx64 "\n", forms[i].name.c_str(), tuples(forms[i]), digest(outcomes[i].results));
  return 0;
}

}  // namespace
}  // namespace muscope::conformance

int main(int count, char** words) {
  try {
    return muscope::conformance::main_of(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
