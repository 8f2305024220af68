# SPDX-License-Identifier: Apache-2.0
# Helpers that keep the folders' own CMakeLists.txt down to what is particular to them.

# Every compiler library sees MLIR as system headers and shares one precompiled
# header, which takes a heavy translation unit from 10 s to 1 s.
function(cameo_compiler_options target)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_definitions(${target} PUBLIC ${definitions})
  target_compile_options(${target} PRIVATE -fno-exceptions)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
endfunction()

# cameo_library(Name SOURCES a.cpp ... DEPENDS tablegenTarget ... LINK Lib ...)
function(cameo_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  cameo_compiler_options(${name})
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM CameoPrecompiled)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()

# cameo_tool(name SOURCES a.cpp LINK Lib ...)
function(cameo_tool name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  cameo_compiler_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}"
                        BUILD_RPATH "${LLVM_LIBRARY_DIR}")
endfunction()
