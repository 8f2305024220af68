# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies: tools, runtime, headers, libraries and a CMake package. The tools
# find stub and library beside themselves, so the prefix can be moved.
include(CMakePackageConfigHelpers)
set(package lib/cmake/Cameo)
# Parts, which Packages.cmake makes Debian packages of.
set(runtime COMPONENT runtime)
set(runtime_development COMPONENT runtime-development)
set(compiler COMPONENT compiler)
set(compiler_development COMPONENT compiler-development)

# For programs that embed models: no LLVM.
install(TARGETS cameo cameo-static EXPORT CameoRuntimeTargets
        LIBRARY DESTINATION lib ${runtime} NAMELINK_COMPONENT runtime-development
        ARCHIVE DESTINATION lib ${runtime_development} INCLUDES DESTINATION include)
install(FILES runtime/cameo.h runtime/cameo.hpp DESTINATION include ${runtime_development})
configure_file(cmake/cameo.pc.in ${CMAKE_BINARY_DIR}/cameo.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cameo.pc DESTINATION lib/pkgconfig ${runtime_development})
install(EXPORT CameoRuntimeTargets NAMESPACE Cameo:: DESTINATION ${package} ${runtime_development})

install(FILES LICENSE README.md CONTRIBUTING.md DESTINATION share/doc/cameo ${compiler})
install(DIRECTORY docs DESTINATION share/doc/cameo ${compiler})
install(DIRECTORY examples DESTINATION share/doc/cameo ${compiler} PATTERN __pycache__ EXCLUDE)

if(CAMEO_WITH_COMPILER)
  # Stubs, which cameoc appends payloads to. They are files, no targets, whose bytes stay as they are when others are
  # stripped.
  install(PROGRAMS $<TARGET_FILE:cameo-stub> $<TARGET_FILE:cameo-tuner> DESTINATION lib/cameo ${compiler})
  install(FILES $<TARGET_FILE:cameo-model> DESTINATION lib/cameo ${compiler})

  set(compilers cameoc cameo-compare)
  set(programs cameo-opt cameo-translate cameo-reduce cameo-sass cameo-sim-opt cameo-lsp-server)
  install(TARGETS ${compilers} EXPORT CameoCompilerTargets RUNTIME DESTINATION bin ${compiler})
  install(TARGETS ${programs} EXPORT CameoCompilerTargets RUNTIME DESTINATION bin COMPONENT tools)
  # All of it, without tests.
  add_custom_target(installed DEPENDS cameo cameo-static cameo-stub cameo-tuner cameo-model ${compilers} ${programs})

  # Libraries for tools and passes of others. Headers keep their paths, as in #include "dialects/onnx/Onnx.h".
  install(TARGETS CameoArena cameo_runtime CameoHeaders CameoOnnxProto CameoOnnx CameoKernel CameoRt CameoPasses
          CameoCodegen EXPORT CameoCompilerTargets ARCHIVE DESTINATION lib ${compiler_development}
          INCLUDES DESTINATION include/cameo)
  foreach(folder dialects passes codegen)
    install(DIRECTORY ${folder} ${CMAKE_BINARY_DIR}/${folder} DESTINATION include/cameo ${compiler_development}
            FILES_MATCHING PATTERN *.h PATTERN *.td PATTERN *.h.inc PATTERN SimPasses.def
            # Headers of the importer, which need protobuf.
            PATTERN *.pb.h EXCLUDE PATTERN Importer.h EXCLUDE PATTERN Exporter.h EXCLUDE
            PATTERN ModelParse.h EXCLUDE PATTERN TensorImport.h EXCLUDE
            PATTERN AttributeMutant.h EXCLUDE PATTERN Precompiled.h EXCLUDE PATTERN CMakeFiles EXCLUDE)
  endforeach()
  install(FILES runtime/format.h runtime/cameo.h DESTINATION include/cameo/runtime ${compiler_development})
  install(FILES runtime/sim/abi.h runtime/sim/image.def runtime/sim/instructions.h runtime/sim/instructions.def
          DESTINATION include/cameo/runtime/sim ${compiler_development})
  install(EXPORT CameoCompilerTargets NAMESPACE Cameo:: DESTINATION ${package} ${compiler_development})
endif()

# Files of wheel cameo-compiler; cameo-tools finds stub and library as cameoc does.
if(CAMEO_STATIC_LLVM)
  set(wheel COMPONENT python-compiler EXCLUDE_FROM_ALL)
  install(TARGETS cameo-tools RUNTIME DESTINATION cameo_compiler/bin ${wheel})
  install(TARGETS cameo-stub cameo-tuner RUNTIME DESTINATION cameo_compiler/lib/cameo ${wheel})
  install(TARGETS cameo-model LIBRARY DESTINATION cameo_compiler/lib/cameo ${wheel})
  install(FILES runtime/cameo.h runtime/cameo.hpp DESTINATION cameo_compiler/include ${wheel})
  if(SKBUILD)
    install(FILES LICENSE DESTINATION ${SKBUILD_METADATA_DIR}/licenses ${wheel})
  endif()
endif()

# In a folder that find_package does not search: with build/bin on the PATH it would find the package before it is
# installed, without its targets.
set(config ${CMAKE_BINARY_DIR}/package)
configure_package_config_file(cmake/CameoConfig.cmake.in ${config}/CameoConfig.cmake INSTALL_DESTINATION ${package})
# Below 1.0 another minor number reads other files: docs/versions.md.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${config}/CameoConfigVersion.cmake COMPATIBILITY ${compatibility})
install(FILES ${config}/CameoConfig.cmake ${config}/CameoConfigVersion.cmake
        cmake/CameoAddModel.cmake cmake/CameoCompilerState.cmake DESTINATION ${package} ${runtime_development})
