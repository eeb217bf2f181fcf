# Finds build-capture, which captures a Zig engine's Triton kernels, and defines `triton_capture_add_set`.
#
# Sets TritonCapture_FOUND, TritonCapture_VERSION, and TRITON_CAPTURE_COMMAND (a list: how to start the command line).
# TRITON_CAPTURE_PYTHON, given by the user, decides which Python runs it; ZIG_EXECUTABLE does so for Zig.

# An installed package has this file in build_capture/cmake, a source tree beside build_capture.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH triton_capture_package)
if(NOT EXISTS "${triton_capture_package}/__main__.py")
  string(APPEND triton_capture_package "/build_capture")
endif()

# Of an installed package, the Python that it is installed in.
string(REGEX REPLACE "/lib[^/]*/python[^/]*/.*$" "/bin" triton_capture_bin "${triton_capture_package}")
find_program(TRITON_CAPTURE_PYTHON NAMES python3 python HINTS "${triton_capture_bin}" DOC "The Python that runs build-capture")

list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
set(ZIG_PYTHON "${TRITON_CAPTURE_PYTHON}") # The Python that has build-capture has its `ziglang`, not the first on PATH.
find_package(Zig 0.16 QUIET)
unset(ZIG_PYTHON)
list(POP_FRONT CMAKE_MODULE_PATH)

set(TritonCapture_FOUND FALSE)
set(triton_capture_problem "")
if(NOT TRITON_CAPTURE_PYTHON)
  set(triton_capture_problem "there is no Python; set TRITON_CAPTURE_PYTHON to one")
elseif(NOT Zig_FOUND)
  set(triton_capture_problem "there is no Zig 0.16 or newer; put zig on PATH, set ZIG_EXECUTABLE, or `pip install ziglang`")
else()
  set(TRITON_CAPTURE_COMMAND "${TRITON_CAPTURE_PYTHON}" "${triton_capture_package}")
  execute_process(
    COMMAND ${TRITON_CAPTURE_COMMAND} --version
    OUTPUT_QUIET
    ERROR_VARIABLE triton_capture_problem
    ERROR_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE triton_capture_result)
  if(triton_capture_result EQUAL 0)
    set(TritonCapture_FOUND TRUE)
  elseif(NOT triton_capture_problem)
    set(triton_capture_problem "${TRITON_CAPTURE_PYTHON} does not start (${triton_capture_result})")
  endif()
endif()
if(NOT TritonCapture_FOUND)
  set(TritonCapture_NOT_FOUND_MESSAGE "${triton_capture_problem}")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/TritonCapture.cmake")
