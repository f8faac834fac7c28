#include "sass/special_registers.h"

#include <fmt/format.h>

namespace muscope::sass {

std::string special_register_text(std::uint8_t number) {
  switch (number) {
#define MUSCOPE_SPECIAL_REGISTER(n, name, text) \
  case n:                                       \
    return text;
#include "sass/special_registers.inc"
#undef MUSCOPE_SPECIAL_REGISTER
    default:
      return fmt::format("SR{}", number);
  }
}

}  // namespace muscope::sass
