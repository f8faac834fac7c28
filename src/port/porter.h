// The work on one C++ source: its tokens in order, with what stands around them. Used by source.cc and architecture.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "port/lexer.h"
#include "port/scopes.h"
#include "port/source.h"

namespace muscope::port {

inline constexpr std::string_view kArchMacros[] = {"__CUDA_ARCH__", "__MUSA_ARCH__"};

class Porter {
 public:
  Porter(std::string_view text, const std::string& path, const Rules& rules, NameCache& names, const Project& project,
         const Options& options)
      : text_(text),
        path_(path),
        rules_(rules),
        names_(names),
        project_(project),
        options_(options),
        lexer_(text),
        to_musa_(options.target.direction == Direction::kToMusa),
        device_(is_device_file(path)),
        scopes_(lexer_),
        scoped_(!project.members.empty() || !project.parameters.empty()) {}

  FileResult run();

 private:
  std::string_view raw(const Token& token) const { return lexer_.raw(token); }
  bool is(const Token& token, std::string_view c) const {
    return token.kind == TokenKind::kPunctuation && raw(token) == c;
  }
  const Token& back(std::size_t n) const { return history_[(last_ + history_.size() - n) % history_.size()]; }
  void remember(const Token& token) {
    last_ = (last_ + 1) % history_.size();
    history_[last_] = token;
  }
  void find(std::string_view code, const Token& token, std::string name, std::string text,
            const std::string& library = "");
  void add_edit(const Token& token, std::string text, EditKind kind);

  void check_musa();
  void identifier(const Token& token);
  void named(const Token& token, const std::string& name, const NameInfo& info);
  bool is_own_in_scope(const Token& token, const std::string& name, const NameInfo& info);
  bool is_project_name(const Token& token, const std::string& name, const NameInfo& info);
  int arguments_ahead() const;
  bool is_scope() const;
  void rename(const Token& token, const std::string& name, const NameInfo& info);
  void namespace_name(const Token& token);
  void architecture(const Token& token, const std::string& name);
  bool compared(const Token& number, const Token& arch_token, const std::string& name, bool at_least);
  void header(const Token& token);
  void comment(const Token& token);
  void words_in(const Token& token, bool change, std::uint64_t& left);
  std::size_t file_in_text(const Token& token, std::size_t at);
  void string(const Token& token);
  void number(const Token& token);
  void assembly(const Token& token);
  void pasted(const Token& token, const std::string& name);
  void count(const std::string& name, const NameInfo& info, const std::string& to);

  std::string_view text_;
  const std::string& path_;
  const Rules& rules_;
  NameCache& names_;
  const Project& project_;
  const Options& options_;
  Lexer lexer_;
  bool to_musa_, device_;
  Scopes scopes_;
  bool scoped_;  ///< scopes_ is followed: the project has names of the API's in them
  std::array<Token, 4> history_{};
  std::size_t last_ = 0;
  FileResult result_;
  std::vector<Token> doubtful_;  ///< look like MUSA's names, and are not
  Token foreign_;                ///< the first name of the other language
  bool off_ = false;             ///< between marks that exclude
};

}  // namespace muscope::port
