# SPDX-License-Identifier: Apache-2.0
# Debian packages of what is installed, one a part; tools/build-debs builds them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cameo)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler of ONNX models for NVIDIA GPUs")
set(CPACK_PACKAGE_CONTACT "Cameo's developers <cameo@example.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime runtime-development compiler tools compiler-development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd) # which is done in a tenth of the time that xz takes
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# cameo_package(COMPONENT component NAME name SECTION section SUMMARY text [DEPENDS packages] [RECOMMENDS packages])
function(cameo_package)
  cmake_parse_arguments(ARG "" "COMPONENT;NAME;SECTION;SUMMARY;DEPENDS;RECOMMENDS" "" ${ARGN})
  string(TOUPPER ${ARG_COMPONENT} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${ARG_NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${ARG_RECOMMENDS}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${ARG_SUMMARY}" PARENT_SCOPE)
  # Only in packages: the prefix that somebody installs to has one licence.
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/${ARG_NAME} RENAME copyright
          COMPONENT ${ARG_COMPONENT} EXCLUDE_FROM_ALL)
endfunction()

set(library libcameo${PROJECT_VERSION_MAJOR}) # by its soname
set(same "(= ${PROJECT_VERSION})")
cameo_package(COMPONENT runtime NAME ${library} SECTION libs SUMMARY "Runs models that Cameo has compiled")
cameo_package(COMPONENT runtime-development NAME libcameo-dev SECTION libdevel
              SUMMARY "Headers and static library of Cameo's runtime, and its CMake package"
              DEPENDS "${library} ${same}")
# LLVM's library is found where LLVM's developers look for it, in a package that does not say what provides it.
cameo_package(COMPONENT compiler NAME cameo SECTION devel
              SUMMARY "Compiles ONNX models into self-contained executables for NVIDIA GPUs"
              DEPENDS "libllvm${LLVM_VERSION_MAJOR}" RECOMMENDS nvidia-cuda-toolkit)
cameo_package(COMPONENT tools NAME cameo-tools SECTION devel
              SUMMARY "Programs for those who work on passes and kernels of Cameo" DEPENDS "cameo ${same}")
cameo_package(COMPONENT compiler-development NAME cameo-dev SECTION libdevel
              SUMMARY "Libraries and headers for passes and tools of one's own"
              DEPENDS "cameo-tools ${same}, libcameo-dev ${same}, libmlir-19-dev, mlir-19-tools, llvm-19-dev, zlib1g-dev, libxxhash-dev")
include(CPack)
