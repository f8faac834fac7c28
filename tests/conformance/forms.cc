// The table and the kernels made from it.
#include "forms.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace muscope::conformance {
namespace {

constexpr const char* kOperands = "abcdefgh";
constexpr const char* kResults = "rstuvwxy";

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    if (at != ' ' || !part.empty()) parts.push_back(part);
  return parts;
}

std::string filled(const std::string& text, const std::vector<std::string>& chosen) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool known = text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '0' &&
                       static_cast<std::size_t>(text[i + 1] - '0') < chosen.size();
    if (known)
      out += chosen[static_cast<std::size_t>(text[++i] - '0')];
    else
      out += text[i];
  }
  return out;
}

/// `chosen[0]` is the name so far.
void expand(const std::vector<std::string>& cells, const std::string& rest, std::vector<std::string> chosen,
            const std::string& group, std::vector<Form>& forms) {
  const std::size_t open = rest.find('{');
  if (open != std::string::npos) {
    const std::size_t close = rest.find('}', open);
    if (close == std::string::npos) throw std::runtime_error("no } in " + cells[0]);
    const std::string inner = rest.substr(open + 1, close - open - 1) + ",";
    for (std::size_t at = 0; at < inner.size();) {
      const std::size_t end = inner.find(',', at);
      std::vector<std::string> next = chosen;
      const std::string choice = inner.substr(at, end - at);
      next[0] += rest.substr(0, open) + choice;
      next.push_back(choice);
      expand(cells, rest.substr(close + 1), std::move(next), group, forms);
      at = end + 1;
    }
    return;
  }
  Form form;
  form.name = chosen[0] + rest;
  form.group = group;
  chosen[0] = form.name.substr(0, form.name.find('#'));
  form.results = split(filled(cells[1], chosen), ' ');
  form.operands = split(filled(cells[2], chosen), ' ');
  if (cells.size() > 3) {
    form.body = filled(cells[3], chosen);
    if (cells.size() > 4) form.before = filled(cells[4], chosen);
  } else {
    form.body = chosen[0];
    for (std::size_t i = 0; i < form.results.size(); ++i) form.body += std::string(i ? "|%" : " %") + kResults[i];
    for (std::size_t i = 0; i < form.operands.size(); ++i) form.body += std::string(", %") + kOperands[i];
    form.body += ';';
  }
  if (form.results.size() > 8 || form.operands.size() > 8) throw std::runtime_error("too many values: " + form.name);
  for (const auto* types : {&form.results, &form.operands})
    for (const std::string& type : *types)
      if (!bytes_of(type)) throw std::runtime_error(form.name + ": no type " + type);
  forms.push_back(std::move(form));
}

std::string bits(unsigned bytes) { return ".b" + std::to_string(bytes * 8); }

void put_kernel(std::string& text, const Form& form, std::size_t index) {
  // Names of the module's scope differ between the forms of a module.
  const auto numbered = [&](std::string part) {
    for (const std::string name : {"callee", "table"}) {
      for (std::size_t at = 0; (at = part.find(name, at)) != std::string::npos; at += name.size())
        part.insert(at + name.size(), std::to_string(index));
    }
    return part;
  };
  text += "// " + form.name + '\n' + numbered(form.before) + "\n.visible .entry f" + std::to_string(index) +
          "(.param .u64 in, .param .u64 out)\n{\n"
          "  .reg .b32 %i, %n; .reg .b64 %in, %out, %cell;\n";
  if (form.body.find("%cell") != std::string::npos)
    text += "  .shared .align 16 .b8 cells[" + std::to_string(kBlock * 16) + "];\n";
  std::string loads, stores;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const std::string name(1, kOperands[i]), offset = std::to_string(8 * i);
    if (form.operands[i] == "pred") {
      text += "  .reg .pred %" + name + ";\n";
      loads += "  ld.global.b32 %n, [%in+" + offset + "];\n  setp.ne.b32 %" + name + ", %n, 0;\n";
      continue;
    }
    const std::string type = bits(bytes_of(form.operands[i]));
    text += "  .reg " + type + " %" + name + ";\n";
    loads += "  ld.global" + type + " %" + name + ", [%in+" + offset + "];\n";
  }
  for (std::size_t i = 0; i < form.results.size(); ++i) {
    const std::string name(1, kResults[i]), offset = std::to_string(8 * i);
    if (form.results[i] == "pred") {
      text += "  .reg .pred %" + name + ";\n";
      stores += "  selp.b32 %n, 1, 0, %" + name + ";\n  st.global.b32 [%out+" + offset + "], %n;\n";
      continue;
    }
    const std::string type = bits(bytes_of(form.results[i]));
    text += "  .reg " + type + " %" + name + ";\n";
    stores += "  st.global" + type + " [%out+" + offset + "], %" + name + ";\n";
  }
  text += "  mov.u32 %i, %ctaid.x;\n  mov.u32 %n, %tid.x;\n";
  if (form.body.find("%cell") != std::string::npos) {
    text += "  mov.u64 %cell, cells;\n  mad.wide.u32 %cell, %n, 16, %cell;\n";
  }
  text += "  mad.lo.u32 %i, %i, " + std::to_string(kBlock) +
          ", %n;\n  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mad.wide.u32 %in, %i, " +
          std::to_string(8 * form.operands.size()) + ", %in;\n  mad.wide.u32 %out, %i, " +
          std::to_string(8 * form.results.size()) + ", %out;\n";
  text += loads + "  " + numbered(form.body) + "\n" + stores + "  ret;\n}\n\n";
}

}  // namespace

unsigned bytes_of(const std::string& type) {
  static const std::map<std::string, unsigned> kBytes = {
      {"pred", 4},   {"b8", 2},     {"s8", 2},     {"u8", 2},    {"b16", 2},   {"s16", 2},   {"u16", 2}, {"f16", 2},
      {"bf16", 2},   {"e4m3x2", 2}, {"e5m2x2", 2}, {"b32", 4},   {"s32", 4},   {"u32", 4},   {"f32", 4}, {"f16x2", 4},
      {"bf16x2", 4}, {"tf32", 4},   {"s16x2", 4},  {"u16x2", 4}, {"b64", 8},   {"s64", 8},   {"u64", 8}, {"f64", 8},
      {"amount", 4}, {"few", 4},    {"few64", 8},  {"lane", 4},  {"clamp", 4}, {"select", 4}};
  const auto found = kBytes.find(type);
  return found == kBytes.end() ? 0 : found->second;
}

std::vector<Form> read_forms(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<Form> forms;
  std::string group = "exact";
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("= ")) {
      group = line.substr(2);
      continue;
    }
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() < 3) throw std::runtime_error("not a form: " + line);
    expand(cells, cells[0], {""}, group, forms);
  }
  return forms;
}

std::string module_text(std::span<const Form> forms) {
  std::string text = kHeader;
  for (std::size_t i = 0; i < forms.size(); ++i) put_kernel(text, forms[i], i);
  return text;
}

std::size_t packed_bytes(const Form& form) {
  std::size_t bytes = 0;
  for (const std::string& type : form.results) bytes += bytes_of(type) * tuples(form);
  return bytes;
}

std::string packed(const Form& form, std::span<const std::uint64_t> results) {
  std::string bytes;
  const std::size_t n = form.results.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < tuples(form); ++t)
      for (unsigned byte = 0; byte < bytes_of(form.results[i]); ++byte)
        bytes += static_cast<char>(results[t * n + i] >> (8 * byte));
  return bytes;
}

std::vector<std::uint64_t> unpacked(const Form& form, const std::string& bytes) {
  const std::size_t n = form.results.size();
  std::vector<std::uint64_t> results(tuples(form) * n);
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < tuples(form); ++t)
      for (unsigned byte = 0; byte < bytes_of(form.results[i]); ++byte)
        results[t * n + i] |= std::uint64_t{static_cast<unsigned char>(bytes.at(at++))} << (8 * byte);
  return results;
}

std::uint64_t digest(std::span<const std::uint64_t> results) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::uint64_t value : results)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 0xff)) * 0x100000001b3ull;
  return hash;
}

}  // namespace muscope::conformance
