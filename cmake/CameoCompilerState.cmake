# SPDX-License-Identifier: Apache-2.0
# cmake -DSTATE=FILE -DCOMPILER=cameoc -P CameoCompilerState.cmake
# Writes to STATE the sizes and times of cameoc and of the library that models begin with; STATE stays as it is where they
# are what they were. A build goes by it, as a compiler that is replaced may be older than what the former one has made:
# packages keep the times of their files.
get_filename_component(compiler ${COMPILER} REALPATH)
get_filename_component(library ${compiler}/../../lib/cameo/libcameo-model.so ABSOLUTE)
set(found "")
foreach(file ${compiler} ${library})
  if(EXISTS ${file})
    file(SIZE ${file} size)
    file(TIMESTAMP ${file} time "%s")
    string(APPEND found "${file} ${size} ${time}\n")
  endif()
endforeach()
set(before "")
if(EXISTS ${STATE})
  file(READ ${STATE} before)
endif()
if(NOT found STREQUAL before)
  file(WRITE ${STATE} "${found}")
endif()
