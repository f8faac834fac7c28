# One example as a MUSA program: it has to check its own results and pass.
execute_process(COMMAND ${MUSCOPE} run --quiet ${PROGRAM} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
get_filename_component(name ${PROGRAM} NAME_WE)
# This one makes a kernel fault on purpose, which `muscope run` tells by its exit code.
set(expected 0)
if(name STREQUAL "shared_alignment")
  set(expected 1)
endif()
if(NOT code EQUAL expected OR NOT out MATCHES "(^|\n)PASS")
  message(FATAL_ERROR "exit code ${code}, expected ${expected}\n${out}\n${err}")
endif()
# Names of CUDA have no place in what a MUSA program is told.
if("${out}${err}" MATCHES "cuda[A-Z][A-Za-z]*")
  message(FATAL_ERROR "'${CMAKE_MATCH_0}' in the output of a MUSA program\n${out}\n${err}")
endif()
