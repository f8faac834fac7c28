// muscope gpu: the known GPUs, and one GPU's memory hierarchy.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "arch/gpu_json.h"
#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/gpu_probe.h"
#include "cli/gpu_text.h"

namespace muscope::cli {

int gpu_command(const Arguments& args) {
  CLI::App app(
      "The known GPUs; one GPU's memory hierarchy with sizes, latencies, bandwidths and where each number comes from.",
      "muscope gpu");
  std::string name;
  bool json = false, probe = false;
  app.add_option("NAME", name, "GPU (h200), compute capability (sm_90, 9.0) or JSON file; without one: the list");
  app.add_flag("--json", json, "as JSON: what --gpu FILE.json reads; for the list, names");
  app.add_flag("--probe", probe,
               "a small program that prints a card's properties as such JSON (.mu, or .cu for NVIDIA's)")
      ->needs(app.get_option("NAME"))
      ->excludes("--json");
  parse(app, args,
        "  muscope gpu\n"
        "  muscope gpu h200\n"
        "  muscope gpu sm_35\n"
        "  muscope gpu a100 --json > mine.json     (edit, then: muscope run --gpu ./mine.json app.cu)\n"
        "  muscope gpu s4000 --probe > probe.mu      (mcc -o probe probe.mu -lmusart; ./probe > mine.json)\n");
  try {
    std::string out;
    if (!name.empty()) {
      const arch::GpuSpec gpu = arch::find_gpu(name);
      out = probe ? probe_source(gpu) : json ? arch::gpu_to_json(gpu) : gpu_text(gpu);
    } else {
      std::vector<arch::GpuSpec> gpus;
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const std::string& each : arch::gpu_names()) {
        gpus.push_back(arch::find_gpu(each));
        list.push_back(
            {{"name", each}, {"full_name", gpus.back().full_name}, {"compute_capability", gpus.back().cc_text()}});
      }
      out = json ? list.dump(2) + "\n" : gpu_list_text(gpus);
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return kOk;
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    return kUsage;
  }
}

}  // namespace muscope::cli
