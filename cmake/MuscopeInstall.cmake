# What is installed, and the packages (cpack): a .deb and a .tar.gz that can be unpacked anywhere.
#   bin/             muscope and its companions
#   lib/muscope/     the engine and the stand-ins for libcudart: private, found relative to the program
#   share/muscope/   device headers for clang (toolkit/), the kernel library, the lab's programs
#   share/doc/muscope/, completions of bash, zsh and fish
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # installing needs the programs, not the tests

# Every program and every shared library that the folders of src/ define, tests apart. The target `programs` builds them.
add_custom_target(programs)
get_property(folders DIRECTORY ${CMAKE_SOURCE_DIR} PROPERTY SUBDIRECTORIES)
foreach(folder ${folders})
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT folder MATCHES "^${CMAKE_SOURCE_DIR}/src/" OR target MATCHES "_test$")
      continue()
    elseif(type STREQUAL "EXECUTABLE")
      add_dependencies(programs ${target})
      get_target_property(output_folder ${target} RUNTIME_OUTPUT_DIRECTORY)
      if(output_folder STREQUAL CMAKE_BINARY_DIR)
        install(TARGETS ${target} RUNTIME DESTINATION bin)
      endif()
    elseif(type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
      add_dependencies(programs ${target})
      install(TARGETS ${target} LIBRARY DESTINATION lib/muscope NAMELINK_SKIP)
    endif()
  endforeach()
endforeach()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/toolkit/ DESTINATION share/muscope/toolkit PATTERN ".clang-format" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/lab/ DESTINATION share/muscope/lab)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/kernels/ DESTINATION share/muscope/kernels PATTERN "CMakeLists.txt" EXCLUDE PATTERN "*_test.*" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION share/doc/muscope/examples PATTERN "CMakeLists.txt" EXCLUDE)
# In folders as here, so that links between pages lead somewhere.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION share/doc/muscope/docs)
foreach(file README.md README.zh-CN.md CHANGELOG.md LICENSE)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${file})
    install(FILES ${CMAKE_SOURCE_DIR}/${file} DESTINATION share/doc/muscope)
  endif()
endforeach()

# Completions are written by the program itself, from its list of commands.
set(completions ${CMAKE_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${completions}/${shell}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:muscope> completion ${shell} > ${completions}/${shell}
    DEPENDS muscope COMMENT "Writing the ${shell} completion" VERBATIM)
  list(APPEND completion_files ${completions}/${shell})
endforeach()
add_custom_target(completions ALL DEPENDS ${completion_files})
add_dependencies(programs completions)
install(FILES ${completions}/bash DESTINATION share/bash-completion/completions RENAME muscope)
install(FILES ${completions}/zsh DESTINATION share/zsh/vendor-completions RENAME _muscope)
install(FILES ${completions}/fish DESTINATION share/fish/vendor_completions.d RENAME muscope.fish)

set(CPACK_PACKAGE_NAME muscope)
set(CPACK_PACKAGE_VENDOR "The muscope developers")
set(CPACK_PACKAGE_CONTACT "The muscope developers <muscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "microscope for GPU memory")
set(CPACK_PACKAGE_DESCRIPTION "Runs CUDA programs on a machine without a GPU and tells, per kernel and source line, what the memory
system of a real GPU would count: requests, sectors, bank conflicts, cache traffic, occupancy.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGE_FILE_NAME muscope-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Compiling .cu files needs a clang and a C++ standard library; running programs that are built already does not.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang-19 | clang-22, g++")
find_program(MUSCOPE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(MUSCOPE_SHLIBDEPS)
if(MUSCOPE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib/muscope)
endif()
include(CPack)
