# examples/ as MUSA, in a folder of the build.
file(REMOVE_RECURSE ${TO})
execute_process(COMMAND ${MUSCOPE} port ${FROM} --out-dir ${TO} --quiet RESULT_VARIABLE code)
# Findings remain: textures, warps of 128 lanes.
if(NOT code EQUAL 4)
  message(FATAL_ERROR "muscope port ended with ${code}")
endif()
file(GLOB_RECURSE left ${TO}/*.cu)
if(left)
  message(FATAL_ERROR "still CUDA: ${left}")
endif()
