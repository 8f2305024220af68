# Writes the header FILE with the commit that SOURCE_DIR stands at, "unknown" outside a git
# repository; leaves a file that says so already as it is.
# SPDX-License-Identifier: Apache-2.0
set(hash unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} describe --always --abbrev=12 --exclude=* --dirty
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE result)
  # A repository around an unpacked archive is not ours.
  execute_process(COMMAND ${GIT} -C ${SOURCE_DIR} ls-files --error-unmatch CMakeLists.txt
                  OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE tracked)
  if(result EQUAL 0 AND tracked EQUAL 0)
    set(hash ${found})
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define CAMEO_GIT_HASH \"${hash}\"\n")
