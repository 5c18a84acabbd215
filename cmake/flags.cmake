# Compiler flags that everything is built with, as the target ferrule_flags.

add_library(ferrule_flags INTERFACE)
target_compile_definitions(ferrule_flags INTERFACE
    _GNU_SOURCE
    "FERRULE_VERSION=\"${PROJECT_VERSION}\"")
target_compile_options(ferrule_flags INTERFACE
    # __FILE__ names no machine's folder.
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
    -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wundef
    # A variable may be called like its type; only variables must not hide each other.
    $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
    $<$<BOOL:${FERRULE_WERROR}>:-Werror>
    # Loops over the few dims and operands of a call stay plain loops: as calls of memset and memcpy they
    # cost a call of a tiny op as much again, and variables that count addresses cost 5 % to set up.
    $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
    $<$<C_COMPILER_ID:GNU>:-fno-ivopts>)

if(FERRULE_SANITIZE)
    set(FERRULE_SANITIZE_FLAGS
        "-fsanitize=${FERRULE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer")
    separate_arguments(sanitize_list UNIX_COMMAND "${FERRULE_SANITIZE_FLAGS}")
    target_compile_options(ferrule_flags INTERFACE ${sanitize_list})
    target_link_options(ferrule_flags INTERFACE ${sanitize_list})
endif()
if(FERRULE_FUZZ)
    target_compile_options(ferrule_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
