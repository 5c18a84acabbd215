# Everything that is used, from the system. `./dev setup` installs it on Debian.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
if(FERRULE_STATIC_DEPENDENCIES)
    # What is built goes to machines that have none of them. libb2's shared library would also bring an
    # OpenMP runtime along, beside the one of the kernels; the objects that are used of it need none.
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
find_package(PNG REQUIRED)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
pkg_check_modules(b2 REQUIRED IMPORTED_TARGET libb2)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
if(FERRULE_TESTS)
    pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
endif()

find_path(UTHASH_INCLUDE_DIR uthash.h REQUIRED)
add_library(uthash INTERFACE)
target_include_directories(uthash SYSTEM INTERFACE "${UTHASH_INCLUDE_DIR}")
