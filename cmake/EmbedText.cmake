# Text files in the program: muscope_embed_text(OUT FUNCTION FILE...) adds a build step that writes the source OUT, which
# defines `std::span<const muscope::cli::EmbeddedText> FUNCTION()` (src/cli/embedded_text.h) with the name (without
# extension) and content of each file.
#
# The same file is the build step: cmake -DOUT=... -DFUNCTION=... -DLIST=... -P EmbedText.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  set(code "// Written by cmake/EmbedText.cmake.\n#include \"cli/embedded_text.h\"\n\nnamespace muscope::cli {\nnamespace {\nconstexpr EmbeddedText kTexts[] = {\n")
  file(STRINGS "${LIST}" files)
  foreach(path IN LISTS files)
    get_filename_component(name "${path}" NAME_WE)
    file(READ "${path}" text)
    string(FIND "${text}" ")muscope_text\"" clash)
    if(NOT clash EQUAL -1)
      message(FATAL_ERROR "${path} holds the end mark of embedded texts")
    endif()
    string(APPEND code "    {\"${name}\", R\"muscope_text(${text})muscope_text\"},\n")
  endforeach()
  string(APPEND code "};\n}  // namespace\n\nstd::span<const EmbeddedText> ${FUNCTION}() { return kTexts; }\n\n}  // namespace muscope::cli\n")
  file(WRITE "${OUT}" "${code}")
  return()
endif()

set(MUSCOPE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(muscope_embed_text out function)
  # The files are named in a list file: command lines have limits.
  set(list ${out}.list)
  list(JOIN ARGN "\n" names)
  file(CONFIGURE OUTPUT ${list} CONTENT "${names}\n" @ONLY)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DLIST=${list} -P ${MUSCOPE_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${list} ${MUSCOPE_EMBED_SCRIPT}
    COMMENT "Embedding ${function}" VERBATIM)
endfunction()
