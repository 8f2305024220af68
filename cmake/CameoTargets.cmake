# SPDX-License-Identifier: Apache-2.0
# Helpers that keep the folders' own CMakeLists.txt down to what is particular to them.

# MLIR is linked into each tool: libMLIR.so binds 78,000 symbols by name at each start, which was half of the time
# of compiling a small model. LLVM, which binds its own when it is linked, is shared.
set(CAMEO_MLIR
    MLIRArithToLLVM MLIRArithTransforms MLIRBuiltinToLLVMIRTranslation MLIRBytecodeReader MLIRBytecodeWriter
    MLIRControlFlowToLLVM MLIRFuncDialect MLIRGPUDialect MLIRGPUToLLVMIRTranslation MLIRLinalgDialect
    MLIRLLVMIRTransforms MLIRLLVMToLLVMIRTranslation MLIRLspServerLib MLIRMathToLLVM MLIRNVVMToLLVMIRTranslation
    MLIROptLib MLIRReduceLib MLIRSCFToControlFlow MLIRTransforms MLIRTranslateLib MLIRVectorToLLVM LLVM)

# Everything that is compiled with MLIR sees it as system headers and shares one precompiled header,
# which takes a translation unit from 10 to 30 s to 2 s.
function(cameo_compiler_options target)
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                                              $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}>)
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_definitions(${target} PUBLIC ${definitions})
  # Code that walks operations is as fast at -O1, which takes a quarter less time to build than -O3.
  target_compile_options(${target} PRIVATE -fno-exceptions $<$<CONFIG:Release>:-O1>)
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE -fno-rtti)
  endif()
endfunction()

# Compiles neighbouring files of a folder as one, in groups of one size and 20 at most: what headers bring is
# instantiated once for all. Three at a time take two thirds of the time of compiling each by itself, twelve half.
# Files that use LLVM's namespace and files that use MLIR's stay apart: both have a Value and a Type.
function(cameo_unity target)
  if(NOT CAMEO_UNITY)
    return()
  endif()
  foreach(source ${ARGN})
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${source})
    get_filename_component(folder ${relative} DIRECTORY)
    file(STRINGS ${source} uses_llvm REGEX "^using namespace llvm;")
    if(uses_llvm)
      string(APPEND folder "_llvm")
    endif()
    string(MAKE_C_IDENTIFIER ${folder} key)
    list(APPEND folders ${key})
    list(APPEND sources_${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(key IN LISTS folders)
    list(LENGTH sources_${key} count)
    math(EXPR groups "(${count} + 19) / 20")
    set(position 0)
    foreach(source IN LISTS sources_${key})
      math(EXPR number "${position} * ${groups} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${key}_${number}")
      math(EXPR position "${position} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Loops over elements of tensors, which took 1.5 to 4.4 times as long at -O1.
function(cameo_number_loops)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endfunction()

# cameo_library(Name SOURCES a.cpp ... DEPENDS tablegenTarget ... LINK Lib ...)
function(cameo_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  cameo_compiler_options(${name})
  target_precompile_headers(${name} REUSE_FROM CameoPrecompiled)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${CAMEO_MLIR})
endfunction()

# cameo_tool(name SOURCES a.cpp LINK Lib ...)
function(cameo_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  cameo_compiler_options(${name})
  target_precompile_headers(${name} REUSE_FROM CameoPrecompiled)
  target_compile_options(${name} PRIVATE -fPIC) # as the libraries, whose header it is
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${CAMEO_MLIR})
  # What --cache-dir keeps is of one build; not every linker writes this unasked.
  target_link_options(${name} PRIVATE "LINKER:--build-id")
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}"
                        BUILD_RPATH "${LLVM_LIBRARY_DIR}")
endfunction()
