# rocm_offline_embed(TARGET t NAME catalog FILES path... [BASE dir] [DEPENDS x])
# Puts files into the target as read-only data by the assembler's .incbin and generates embedded_<name>.hpp with
#   namespace rocm_offline::embedded { std::span<const EmbeddedFile> <name>(); }   (sorted by path, relative to BASE)
function(rocm_offline_embed)
  cmake_parse_arguments(ARG "" "TARGET;NAME;BASE" "FILES;DEPENDS" ${ARGN})
  if(NOT ARG_BASE)
    set(ARG_BASE "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  file(MAKE_DIRECTORY "${dir}")
  list(SORT ARG_FILES)
  set(asm "    .section .rodata\n")
  set(externs "")
  set(table "")
  set(i 0)
  foreach(file IN LISTS ARG_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${ARG_BASE}" OUTPUT_VARIABLE full)
    cmake_path(RELATIVE_PATH full BASE_DIRECTORY "${ARG_BASE}" OUTPUT_VARIABLE relative)
    set(symbol "rocm_offline_embedded_${ARG_NAME}_${i}")
    string(APPEND asm "    .balign 16\n    .globl ${symbol}\n${symbol}:\n    .incbin \"${full}\"\n"
                      "    .globl ${symbol}_end\n${symbol}_end:\n    .byte 0\n")
    string(APPEND externs "extern \"C\" const char ${symbol}[];\nextern \"C\" const char ${symbol}_end[];\n")
    string(APPEND table "      {\"${relative}\", {${symbol}, static_cast<std::size_t>(${symbol}_end - ${symbol})}},\n")
    list(APPEND full_paths "${full}")
    math(EXPR i "${i}+1")
  endforeach()
  string(APPEND asm "    .section .note.GNU-stack,\"\",@progbits\n")
  file(CONFIGURE OUTPUT "${dir}/embedded_${ARG_NAME}.S" CONTENT "${asm}" @ONLY)
  file(CONFIGURE OUTPUT "${dir}/embedded_${ARG_NAME}.hpp" @ONLY CONTENT
"#pragma once
#include <span>
#include \"rocm_offline/core/embedded.hpp\"
namespace rocm_offline::embedded {
[[nodiscard]] std::span<const EmbeddedFile> ${ARG_NAME}();
}
")
  file(CONFIGURE OUTPUT "${dir}/embedded_${ARG_NAME}.cpp" @ONLY CONTENT
"#include \"embedded_${ARG_NAME}.hpp\"
#include <array>
#include <cstddef>
${externs}
namespace rocm_offline::embedded {
std::span<const EmbeddedFile> ${ARG_NAME}() {
  static const std::array<EmbeddedFile, ${i}> files{{
${table}  }};
  return files;
}
}  // namespace rocm_offline::embedded
")
  set_source_files_properties("${dir}/embedded_${ARG_NAME}.S" PROPERTIES OBJECT_DEPENDS "${full_paths};${ARG_DEPENDS}")
  target_sources(${ARG_TARGET} PRIVATE "${dir}/embedded_${ARG_NAME}.S" "${dir}/embedded_${ARG_NAME}.cpp")
  target_include_directories(${ARG_TARGET} PRIVATE "${dir}")
endfunction()
