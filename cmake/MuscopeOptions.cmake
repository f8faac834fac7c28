# Language level, warnings and the switches of this build.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(MUSCOPE_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(MUSCOPE_BENCH "Build the benchmarks (needs Google Benchmark)" OFF)

# g++ 12 reports string code that is fine: -Wrestrict (GCC bug 105651), -Wmaybe-uninitialized (105562).
add_library(muscope_flags INTERFACE)
target_compile_options(muscope_flags INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -Wno-restrict -Wno-maybe-uninitialized -Werror -fno-math-errno)
if(MUSCOPE_SANITIZE)
  target_compile_options(muscope_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DMUSCOPE_SANITIZED=1)
  target_link_options(muscope_flags INTERFACE -fsanitize=address,undefined)
endif()

# Everything the programs place beside each other: build/<preset>/muscope, build/<preset>/lib/muscope/...
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(MUSCOPE_PRIVATE_LIB_DIR lib/muscope)
