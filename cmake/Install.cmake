# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies: tools, runtime, headers, libraries and a CMake package. The tools
# find stub and library beside themselves, so the prefix can be moved.
include(CMakePackageConfigHelpers)
set(package lib/cmake/Cameo)

# For programs that embed models: no LLVM.
install(TARGETS cameo cameo-static EXPORT CameoRuntimeTargets LIBRARY DESTINATION lib ARCHIVE DESTINATION lib
        INCLUDES DESTINATION include)
install(FILES runtime/cameo.h runtime/cameo.hpp DESTINATION include)
configure_file(cmake/cameo.pc.in ${CMAKE_BINARY_DIR}/cameo.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cameo.pc DESTINATION lib/pkgconfig)
install(EXPORT CameoRuntimeTargets NAMESPACE Cameo:: DESTINATION ${package})

install(FILES LICENSE README.md CONTRIBUTING.md DESTINATION share/doc/cameo)
install(DIRECTORY docs DESTINATION share/doc/cameo)
install(DIRECTORY examples DESTINATION share/doc/cameo PATTERN __pycache__ EXCLUDE)

if(CAMEO_WITH_COMPILER)
  # Stubs, which cameoc appends payloads to.
  install(TARGETS cameo-stub cameo-tuner RUNTIME DESTINATION lib/cameo)
  install(TARGETS cameo-model LIBRARY DESTINATION lib/cameo)

  install(TARGETS cameoc cameo-opt cameo-translate cameo-reduce cameo-compare cameo-sass cameo-sim-opt
          cameo-lsp-server EXPORT CameoCompilerTargets RUNTIME DESTINATION bin)

  # Libraries for tools and passes of others. Headers keep their paths, as in #include "dialects/onnx/Onnx.h".
  install(TARGETS CameoArena cameo_runtime CameoHeaders CameoOnnxProto CameoOnnx CameoKernel CameoRt CameoPasses
          CameoCodegen EXPORT CameoCompilerTargets ARCHIVE DESTINATION lib
          INCLUDES DESTINATION include/cameo)
  foreach(folder dialects passes codegen)
    install(DIRECTORY ${folder} ${CMAKE_BINARY_DIR}/${folder} DESTINATION include/cameo
            FILES_MATCHING PATTERN *.h PATTERN *.td PATTERN *.h.inc PATTERN SimPasses.def
            # Headers of the importer, which need protobuf.
            PATTERN *.pb.h EXCLUDE PATTERN Importer.h EXCLUDE PATTERN Exporter.h EXCLUDE
            PATTERN ModelParse.h EXCLUDE PATTERN TensorImport.h EXCLUDE
            PATTERN Precompiled.h EXCLUDE PATTERN CMakeFiles EXCLUDE)
  endforeach()
  install(FILES runtime/format.h runtime/cameo.h DESTINATION include/cameo/runtime)
  install(FILES runtime/sim/abi.h runtime/sim/image.def runtime/sim/instructions.h runtime/sim/instructions.def
          DESTINATION include/cameo/runtime/sim)
  install(EXPORT CameoCompilerTargets NAMESPACE Cameo:: DESTINATION ${package})
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
write_basic_package_version_file(${config}/CameoConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${config}/CameoConfig.cmake ${config}/CameoConfigVersion.cmake
        cmake/CameoAddModel.cmake DESTINATION ${package})
