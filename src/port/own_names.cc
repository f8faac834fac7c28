// Which names of the API are the project's own where they stand.
#include <fmt/format.h>

#include "port/porter.h"

namespace muscope::port {

/// A name that the project gives to a member, a function in a namespace or a parameter, too: its own within that scope,
/// behind a dot or an arrow, and behind the scope's name; elsewhere the API's.
bool Porter::is_own_in_scope(const Token& token, const std::string& name, const NameInfo& info) {
  if (token.in_directive) return false;
  const bool colons = is(back(0), ":") && is(back(1), ":") && back(0).begin == back(1).end;
  const bool dot = is(back(0), ".") || (is(back(0), ">") && is(back(1), "-") && back(0).begin == back(1).end);
  if (!colons && !dot && project_.parameters.contains(name)) {
    if (scopes_.is_parameter(name)) return true;
    Lexer ahead = lexer_;
    Token next = ahead.next();
    while (next.kind == TokenKind::kComment) next = ahead.next();
    if (scopes_.declares_parameter(next)) {
      scopes_.add_parameter(raw(token));
      return true;
    }
  }
  const auto found = project_.members.find(name);
  if (found == project_.members.end()) return false;
  const Project::Owners& owners = found->second;
  if (dot) return true;
  if (colons)
    return is(back(2), ">") || (back(2).kind == TokenKind::kIdentifier && owners.scopes.contains(raw(back(2))));
  for (const std::string& scope : owners.scopes)
    if (scopes_.inside(scope)) return true;
  if ((owners.in_namespace || scopes_.inside_class()) && (info.renamed || info.suspect))
    find("P021", token, name,
         fmt::format("'{}' is a name of '{}' too, which this project declares: it was taken for the API's here", name,
                     owners.scopes.begin()->empty() ? "a class" : *owners.scopes.begin()),
         info.library);
  return false;
}

bool Porter::is_project_name(const Token& token, const std::string& name, const NameInfo& info) {
  if (project_.declared.contains(name) && !info.seen) {
    ++result_.own_names[name];
    return true;
  }
  if (scoped_ && is_own_in_scope(token, name, info)) {
    ++result_.own_names[name];
    return true;
  }
  // A member, or a name of another namespace, is nobody's API name.
  const bool member = is(back(0), ".") || (is(back(0), ">") && is(back(1), "-") && back(0).begin == back(1).end);
  const bool qualified =
      is(back(0), ":") && is(back(1), ":") && back(2).kind == TokenKind::kIdentifier && back(1).begin == back(2).end;
  if (!member && !qualified) return false;
  if (qualified && (raw(back(2)) == "thrust" || raw(back(2)) == "std")) return false;
  if (info.renamed || info.suspect) {
    if (info.seen && !qualified && !info.by_rule) return false;
    find("P021", token, name,
         fmt::format("'{}' is a member or belongs to another namespace: it is left as it is", name), info.library);
  }
  return true;
}

}  // namespace muscope::port
