# rocm_offline_module(NAME core SOURCES a.cpp b.cpp HEADERS include/rocm_offline/core/a.hpp ...
#                     LINKS index fetch ... [PRIVATE_LINKS plan] [LIBRARIES spdlog::spdlog ...])
# One static library per folder: target rocm_offline_<name>. LINKS are modules that its public headers need,
# PRIVATE_LINKS modules that only its sources need, LIBRARIES the C and C++ libraries only its sources see.
# tests/integration/architecture checks the edges against the table of docs/architecture.md.
function(rocm_offline_module)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;HEADERS;LINKS;PRIVATE_LINKS;LIBRARIES" ${ARGN})
  set(target rocm_offline_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC project_settings PRIVATE project_warnings)
  foreach(link IN LISTS ARG_LINKS)
    target_link_libraries(${target} PUBLIC rocm_offline_${link})
  endforeach()
  foreach(link IN LISTS ARG_PRIVATE_LINKS)
    target_link_libraries(${target} PRIVATE rocm_offline_${link})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY ROCM_OFFLINE_MODULES ${target})
endfunction()
