# Finds Zig: `zig` on PATH, else the `ziglang` package of ZIG_PYTHON, or of the Python that CMake finds.
#
# Sets Zig_FOUND, Zig_VERSION, ZIG_COMMAND (a list: how to start it), and ZIG_ARCHITECTURE (this machine's, as Zig names it).
# ZIG_EXECUTABLE, given by the user, decides.
find_program(ZIG_EXECUTABLE zig DOC "The Zig compiler")

if(ZIG_EXECUTABLE)
  set(ZIG_COMMAND "${ZIG_EXECUTABLE}")
elseif(ZIG_PYTHON)
  set(ZIG_COMMAND "${ZIG_PYTHON}" -m ziglang)
else()
  find_package(Python COMPONENTS Interpreter QUIET)
  if(Python_EXECUTABLE)
    set(ZIG_COMMAND "${Python_EXECUTABLE}" -m ziglang)
  endif()
endif()

if(ZIG_COMMAND)
  execute_process(
    COMMAND ${ZIG_COMMAND} version
    OUTPUT_VARIABLE Zig_VERSION
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE zig_result)
  if(NOT zig_result EQUAL 0)
    unset(Zig_VERSION)
  endif()
endif()

cmake_host_system_information(RESULT ZIG_ARCHITECTURE QUERY OS_PLATFORM)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Zig
  REQUIRED_VARS Zig_VERSION ZIG_COMMAND
  VERSION_VAR Zig_VERSION
  REASON_FAILURE_MESSAGE "put zig on PATH, set ZIG_EXECUTABLE, or `pip install ziglang`")
