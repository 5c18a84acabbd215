# Cross build for aarch64. The libraries that Ferrule uses are there for this machine alone, so that it is
# compiled and not linked; their headers are the same for every processor, and are looked for after the
# target's own ones. Kernels need the C library alone: they are linked, and run in an emulator.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-idirafter /usr/include")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# Not to be found by themselves: /usr/include would come before the target's headers.
set(PNG_LIBRARY /dev/null)
set(ZLIB_LIBRARY /dev/null)
foreach(folder PNG_PNG_INCLUDE_DIR ZLIB_INCLUDE_DIR UTHASH_INCLUDE_DIR)
    set(${folder} /usr/include/libpng16)
endforeach()

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
