# SPDX-License-Identifier: Apache-2.0
# Programs that run on machines without LLVM: Debian's static archives instead of its shared library, which all of
# MLIR's targets name.
set(needed NVPTX X86)
llvm_map_components_to_libnames(llvm_archives ${needed} AsmParser BitReader BitWriter IRReader Linker LTO Option Passes)

# lld initialises every target that LLVM has, of which it needs none to link the simulator's images.
set(absent "// Targets that are not in this program.\n")
set(every ${LLVM_TARGETS_TO_BUILD} M68k Xtensa)
list(REMOVE_DUPLICATES every)
foreach(target ${every})
  if(NOT target IN_LIST needed)
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser)
      string(APPEND absent "extern \"C\" __attribute__((weak)) void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endif()
endforeach()
# Nothing is optimised when images are linked, and Polly's archive is in another package.
string(APPEND absent "void getPollyPluginInfo() { __builtin_trap(); }\n")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/AbsentTargets.cpp CONTENT "${absent}" @ONLY)
add_library(CameoAbsentTargets STATIC ${CMAKE_BINARY_DIR}/AbsentTargets.cpp)

get_target_property(configurations LLVM IMPORTED_CONFIGURATIONS)
foreach(configuration ${configurations})
  set_target_properties(LLVM PROPERTIES IMPORTED_LOCATION_${configuration} ${LLVM_LIBRARY_DIR}/libLLVMSupport.a)
endforeach()
set_target_properties(LLVM PROPERTIES INTERFACE_LINK_LIBRARIES "CameoAbsentTargets;${llvm_archives}")
set_target_properties(LLVMExtensions PROPERTIES INTERFACE_LINK_LIBRARIES LLVMSupport)
# LLVM's solver of constraints (the static analyser's) is never called.
find_library(ZSTD libzstd.a REQUIRED)
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "rt;dl;m;ZLIB::ZLIB;${ZSTD};LLVMDemangle")
set(Protobuf_USE_STATIC_LIBS ON)
