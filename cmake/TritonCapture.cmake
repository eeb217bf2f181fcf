# Defines `triton_capture_add_set`.
include_guard()

#[[
Adds a target that captures the sets of a family's Triton kernels, installs them, and tests their coverage.

  triton_capture_add_set(
    NAME qwen27                       # the target, and the folder that engines look in: share/qwen27/cuda/sm121
    PROFILE capture.zon
    TARGETS sm_121 [...]              # one set for each
    [PARALLEL 16] [WINDOW_ROWS 16]    # the limits; the profile's where they are not given
    [DECLARATIONS triton.zig ...]     # files that other targets generate, and that the capture waits for
    [KERNELS kernels/made.py ...]     # likewise
    [POLICY exact] [MODE compile] [JOBS 2]
    [DESTINATION share/qwen27/cuda]   # where the sets install to, a folder for each target below it
    [EXCLUDE_FROM_ALL])               # capture only when asked for by name

Paths are relative to the current source folder. What the profile names is found by the capture itself, and every file
that it read is an input of the build through a depfile. The sets are in ${CMAKE_CURRENT_BINARY_DIR}/<NAME>/<sm121>; the
target's property TRITON_CAPTURE_SETS lists these folders. Each is tested as <NAME>.coverage.<sm121> where testing is on.
]]
function(triton_capture_add_set)
  set(optional POLICY MODE JOBS WINDOW_ROWS PARALLEL DESTINATION)
  cmake_parse_arguments(PARSE_ARGV 0 set "EXCLUDE_FROM_ALL" "NAME;PROFILE;${optional}" "TARGETS;DECLARATIONS;KERNELS")
  foreach(required NAME PROFILE TARGETS)
    if(NOT set_${required})
      message(FATAL_ERROR "triton_capture_add_set: ${required} is missing")
    endif()
  endforeach()
  if(set_UNPARSED_ARGUMENTS OR set_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "triton_capture_add_set: not understood: ${set_UNPARSED_ARGUMENTS}${set_KEYWORDS_MISSING_VALUES}")
  endif()
  foreach(target IN LISTS set_TARGETS)
    if(NOT target MATCHES "^sm_?[0-9]+$")
      message(FATAL_ERROR "triton_capture_add_set: ${target} in TARGETS is no target; expected one such as sm_121")
    endif()
  endforeach()
  if(NOT set_DESTINATION)
    set(set_DESTINATION "share/${set_NAME}/cuda")
  endif()

  cmake_path(ABSOLUTE_PATH set_PROFILE)
  set(generated "")
  foreach(file IN LISTS set_DECLARATIONS set_KERNELS)
    cmake_path(ABSOLUTE_PATH file)
    list(APPEND generated "${file}")
  endforeach()

  set(limits "")
  foreach(limit PARALLEL WINDOW_ROWS)
    if(DEFINED set_${limit})
      string(TOLOWER "--${limit}" option)
      string(REPLACE "_" "-" option "${option}")
      list(APPEND limits "${option}" "${set_${limit}}")
    endif()
  endforeach()
  set(making "")
  foreach(way POLICY MODE JOBS)
    if(DEFINED set_${way})
      string(TOLOWER "--${way}" option)
      list(APPEND making "${option}" "${set_${way}}")
    endif()
  endforeach()
  set(zig "")
  if(ZIG_EXECUTABLE)
    set(zig --zig "${ZIG_EXECUTABLE}")
  endif()

  set(stamps "")
  set(folders "")
  foreach(target IN LISTS set_TARGETS)
    string(REPLACE "_" "" short "${target}")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${set_NAME}/${short}")
    # A capture that makes the same set leaves its files as they are; the stamp says that it ran.
    set(stamp "${folder}.stamp")
    set(planning --profile "${set_PROFILE}" --target "${target}" ${limits} ${zig} --cache-dir "${CMAKE_CURRENT_BINARY_DIR}/${set_NAME}/cache")
    add_custom_command(
      OUTPUT "${stamp}"
      COMMAND ${TRITON_CAPTURE_COMMAND} capture ${planning} ${making} --out "${folder}" --depfile "${folder}.d" --depfile-target "${stamp}"
      COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
      DEPENDS "${set_PROFILE}" ${generated}
      DEPFILE "${folder}.d"
      COMMENT "Capturing ${set_NAME} for ${target}"
      USES_TERMINAL
      VERBATIM)
    list(APPEND stamps "${stamp}")
    list(APPEND folders "${folder}")
    add_test(NAME "${set_NAME}.coverage.${short}" COMMAND ${TRITON_CAPTURE_COMMAND} check "${folder}" ${planning})
    set(leave_out "")
    if(set_EXCLUDE_FROM_ALL)
      set(leave_out OPTIONAL)
    endif()
    # Cubins of an earlier set must not stay: a set holds what its aot.json lists, and no more. They go once the new ones are there.
    cmake_path(ABSOLUTE_PATH set_DESTINATION BASE_DIRECTORY "\${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE destination)
    set(installed "\$ENV{DESTDIR}${destination}/${short}")
    install(CODE "
      if(EXISTS \"${folder}/aot.json\" AND EXISTS \"${installed}/cubins\")
        file(REMOVE_RECURSE \"${installed}/.cubins.old\")
        file(RENAME \"${installed}/cubins\" \"${installed}/.cubins.old\")
      endif()")
    install(DIRECTORY "${folder}/" DESTINATION "${set_DESTINATION}/${short}" ${leave_out})
    install(CODE "file(REMOVE_RECURSE \"${installed}/.cubins.old\")")
  endforeach()

  set(all ALL)
  if(set_EXCLUDE_FROM_ALL)
    set(all "")
  endif()
  add_custom_target("${set_NAME}" ${all} DEPENDS ${stamps})
  set_target_properties("${set_NAME}" PROPERTIES TRITON_CAPTURE_SETS "${folders}")
endfunction()
