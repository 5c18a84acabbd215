# ferrule_embed(OUT_VARIABLE NAME FILE [NAME FILE]...)
#
# Makes one C file for each FILE, with `const char NAME[]`, a 0 after the file's bytes, and
# `const size_t NAME_size`, the number of bytes without that 0. OUT_VARIABLE gets the C files.
# Run as a script (cmake -DNAME= -DINPUT= -DOUTPUT= -P), this file writes one of them.

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ "${INPUT}" bytes HEX)
    string(REPEAT "[0-9a-f]" 32 line)
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    file(WRITE "${OUTPUT}" "#include <stddef.h>

extern const char ${NAME}[];
extern const size_t ${NAME}_size;

const char ${NAME}[] = {
${bytes}0};
const size_t ${NAME}_size = sizeof ${NAME} - 1;
")
    return()
endif()

set(FERRULE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(ferrule_embed out_variable)
    set(outputs)
    while(ARGN)
        list(POP_FRONT ARGN name input)
        set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded/${name}.c")
        add_custom_command(
            OUTPUT "${output}"
            COMMAND "${CMAKE_COMMAND}" "-DNAME=${name}"
                "-DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${input}" "-DOUTPUT=${output}"
                -P "${FERRULE_EMBED_SCRIPT}"
            DEPENDS "${input}" "${FERRULE_EMBED_SCRIPT}"
            COMMENT "Embedding ${input}"
            VERBATIM)
        list(APPEND outputs "${output}")
    endwhile()
    set(${out_variable} ${outputs} PARENT_SCOPE)
endfunction()
