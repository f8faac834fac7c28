# MUSCOPE_FMT: what to link for libfmt. Not the shared library, which is all that Debian and Ubuntu ship: part of muscope
# is preloaded into other people's programs, which may bring a libfmt of their own, and the packages must run on machines
# without it. So our own static library, or, with a version of libfmt that it does not fit, everything in headers.
find_package(fmt REQUIRED)
get_target_property(fmt_include fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)

try_compile(MUSCOPE_FMT_STATIC ${CMAKE_BINARY_DIR}/fmt_try
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt/try.cc ${CMAKE_CURRENT_LIST_DIR}/fmt/fmt_static.cc
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_include}" CXX_STANDARD 20)
if(MUSCOPE_FMT_STATIC)
  add_library(muscope_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt/fmt_static.cc)
  target_include_directories(muscope_fmt SYSTEM PUBLIC ${fmt_include})
  set(MUSCOPE_FMT muscope_fmt)
else()
  set(MUSCOPE_FMT fmt::fmt-header-only)
endif()
