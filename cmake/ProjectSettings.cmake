# Two INTERFACE targets that every target of ours links: the language, and the warnings.
add_library(project_settings INTERFACE)
target_compile_features(project_settings INTERFACE cxx_std_20)
target_compile_definitions(project_settings INTERFACE _FILE_OFFSET_BITS=64)
# File names inside the binaries are those of the source tree, not of the machine that built them.
target_compile_options(project_settings INTERFACE "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
if(ROCM_OFFLINE_SANITIZE)
  target_compile_options(project_settings INTERFACE -fsanitize=${ROCM_OFFLINE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(project_settings INTERFACE -fsanitize=${ROCM_OFFLINE_SANITIZE})
endif()
if(ROCM_OFFLINE_FUZZ)
  target_compile_options(project_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(project_warnings INTERFACE)
target_compile_options(project_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wunused -Wformat=2 -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports null dereferences inside std::string and std::vector at -O2 that are none (GCC PR 105562, 108842).
  target_compile_options(project_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-null-dereference -Wno-restrict>)
endif()
if(ROCM_OFFLINE_WERROR)
  target_compile_options(project_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
