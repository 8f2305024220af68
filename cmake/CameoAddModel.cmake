# SPDX-License-Identifier: Apache-2.0
# cameo_add_model(NAME model.onnx
#                 [PRECISION fp16] [TARGET sm_80,sm_90] [SHAPES batch:8] [CALIBRATION_DATA samples.npz]
#                 [STATE past:present ...] [CACHE_DIR folder] [OPTIONS --accuracy=99% ...] [DEPENDS file...])
# NAME is a library with the model and the runtime. What is linked with it can #include <NAME.hpp>, which has the
# model's inputs and outputs by their names, and cameo.hpp. A program may be linked with any number of models.
# It is compiled again where the model, its external data, a file of the options, the compiler or the library that
# models begin with changes; DEPENDS is for files that only a program of OPTIONS knows. CAMEO_COMPILER says where cameoc
# is, if not beside this package.
set(CAMEO_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../../../bin/cameoc CACHE FILEPATH "cameoc, which compiles models")
mark_as_advanced(CAMEO_COMPILER)

# A target that looks at each build whether the compiler is another one.
function(_cameo_add_compiler_state)
  if(TARGET cameo-compiler-state)
    return()
  endif()
  set(state ${CMAKE_BINARY_DIR}/cameo-compiler-state.txt)
  set(command ${CMAKE_COMMAND} -DSTATE=${state} -DCOMPILER=${CAMEO_COMPILER} -P
              ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/CameoCompilerState.cmake)
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
  add_custom_target(cameo-compiler-state COMMAND ${command} BYPRODUCTS ${state}
                    COMMENT "Checking which cameoc there is" VERBATIM)
endfunction()

function(cameo_add_model name model)
  set(arguments PRECISION TARGET SHAPES CALIBRATION_DATA CACHE_DIR)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "${arguments}" "STATE;OPTIONS;DEPENDS")
  if(ARG_UNPARSED_ARGUMENTS)
    list(JOIN arguments ", " known)
    message(FATAL_ERROR "cameo_add_model(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}; known are ${known}, STATE, OPTIONS and DEPENDS")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "cameo_add_model(${name}): no value for ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  foreach(option ${ARG_OPTIONS})
    if(option MATCHES "^(-o|-q|--emit|--header|--depfile)(=|$)")
      message(FATAL_ERROR "cameo_add_model(${name}): OPTIONS ${option}: that is this function's to say")
    endif()
  endforeach()
  if(TARGET ${name} OR TARGET ${name}-model)
    message(FATAL_ERROR "cameo_add_model(${name}): there is a target of that name")
  endif()
  if(NOT EXISTS ${CAMEO_COMPILER})
    message(FATAL_ERROR "cameo_add_model(${name}): CAMEO_COMPILER: there is no ${CAMEO_COMPILER}")
  endif()
  get_filename_component(model ${model} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  set(options ${ARG_OPTIONS})
  foreach(option PRECISION TARGET SHAPES)
    if(ARG_${option})
      string(TOLOWER ${option} spelling)
      list(APPEND options --${spelling}=${ARG_${option}})
    endif()
  endforeach()
  foreach(state ${ARG_STATE})
    list(APPEND options --state=${state})
  endforeach()
  if(ARG_CALIBRATION_DATA)
    get_filename_component(data ${ARG_CALIBRATION_DATA} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND options --calibration-data=${data})
  endif()
  if(ARG_CACHE_DIR)
    get_filename_component(cache ${ARG_CACHE_DIR} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    list(APPEND options --cache-dir=${cache})
  endif()
  _cameo_add_compiler_state()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}-model)
  file(MAKE_DIRECTORY ${folder})
  set(library ${folder}/lib${name}.so)
  add_custom_command(
    OUTPUT ${library} ${folder}/${name}.hpp
    COMMAND ${CAMEO_COMPILER} ${model} -q -o ${library} --emit=lib --header=${folder}/${name}.hpp
            --depfile=${folder}/${name}.d ${options}
    DEPENDS ${model} cameo-compiler-state ${CMAKE_BINARY_DIR}/cameo-compiler-state.txt ${ARG_DEPENDS}
    DEPFILE ${folder}/${name}.d
    COMMENT "Compiling ${name}" VERBATIM)
  add_custom_target(${name}-model DEPENDS ${library} ${folder}/${name}.hpp)
  get_target_property(headers Cameo::cameo INTERFACE_INCLUDE_DIRECTORIES)
  add_library(${name} SHARED IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${library} IMPORTED_NO_SONAME ON
                        INTERFACE_INCLUDE_DIRECTORIES "${folder};${headers}")
  # The first library of several has the functions; the others are needed for their models.
  target_link_options(${name} INTERFACE LINKER:--no-as-needed)
  add_dependencies(${name} ${name}-model)
endfunction()
