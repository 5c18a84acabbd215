# What `cmake --install` puts where, and what CPack makes of it. Nothing that is installed holds a path
# of the machine that built it, or the prefix: a tree of folders may be moved as a whole.

include(CMakePackageConfigHelpers)

set(kernels_folder "${CMAKE_INSTALL_DATADIR}/ferrule/kernels")
set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ferrule")
set(pkgconfig_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
# Debian's zsh looks for what packages bring in zsh/vendor-completions.
set(FERRULE_ZSH_COMPLETIONS "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
    "Where completions for zsh are installed")

# The way from one installed folder to another.
function(ferrule_way out_variable from to)
    cmake_path(ABSOLUTE_PATH from BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
    cmake_path(ABSOLUTE_PATH to BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
    cmake_path(RELATIVE_PATH to BASE_DIRECTORY "${from}" OUTPUT_VARIABLE way)
    string(REGEX REPLACE "/$" "" way "${way}")
    set(${out_variable} "${way}" PARENT_SCOPE)
endfunction()

# The library finds the standard package from where it is itself: here by a link in the build folder.
ferrule_way(library_to_kernels "${CMAKE_INSTALL_LIBDIR}" "${kernels_folder}")
ferrule_way(program_to_kernels "${CMAKE_INSTALL_BINDIR}" "${kernels_folder}")
set_source_files_properties(src/package/standard.c PROPERTIES COMPILE_DEFINITIONS
    "FERRULE_LIBRARY_TO_KERNELS=\"${library_to_kernels}\";FERRULE_PROGRAM_TO_KERNELS=\"${program_to_kernels}\"")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/ferrule")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/kernels" "${PROJECT_BINARY_DIR}/share/ferrule/kernels"
    SYMBOLIC)

# --- The libraries, for find_package and pkg-config -----------------------------------------------

# Two files, since who links the shared library needs nothing of what the static one needs.
install(TARGETS ferrule EXPORT ferrule-shared)
install(TARGETS ferrule_static EXPORT ferrule-static)
foreach(kind shared static)
    install(EXPORT ferrule-${kind} NAMESPACE ferrule:: DESTINATION "${config_folder}")
endforeach()
install(DIRECTORY include/ferrule DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/ferrule-config.cmake.in ferrule-config.cmake
    INSTALL_DESTINATION "${config_folder}"
    PATH_VARS kernels_folder)
write_basic_package_version_file(ferrule-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/ferrule-config.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/ferrule-config-version.cmake"
    DESTINATION "${config_folder}")

ferrule_way(to_prefix "${pkgconfig_folder}" .)
ferrule_way(to_libraries . "${CMAKE_INSTALL_LIBDIR}")
ferrule_way(to_headers . "${CMAKE_INSTALL_INCLUDEDIR}")
ferrule_way(to_kernels . "${kernels_folder}")
foreach(name ferrule ferrule-static)
    configure_file(packaging/${name}.pc.in ${name}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${pkgconfig_folder}")
endforeach()

# --- The command, the standard package, and documents ---------------------------------------------

install(TARGETS ferrule_command)
install(DIRECTORY kernels/ DESTINATION "${kernels_folder}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES man/ferrule.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES completions/ferrule.bash
    DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME ferrule)
install(FILES completions/ferrule.zsh DESTINATION "${FERRULE_ZSH_COMPLETIONS}" RENAME _ferrule)
install(FILES completions/ferrule.fish
    DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")

# All that must be built for it.
add_custom_target(ferrule_installed)
add_dependencies(ferrule_installed ferrule ferrule_static ferrule_command)

# --- Packages -------------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ferrule)
set(CPACK_PACKAGE_CONTACT "Ferrule maintainers <maintainers@ferrule.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "declared custom ops in C: library, command and kernels")
set(CPACK_PACKAGE_DESCRIPTION
    "A kernel is written once, in ordinary C, and one line declares its typed,
shape-symbolic signature. Calls are checked, result types are worked out,
and ops are staged in graphs. Kernels are compiled when they are declared.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# Kernels are compiled on the user's machine; all else is for who builds on the library.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc | c-compiler, libc6-dev | libc-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "graphviz, libb2-dev, libopenblas-serial-dev, libxxhash-dev, pkgconf | pkg-config")
# What only Debian's packages have is a component of its own, beside all that is always installed.
install(FILES packaging/debian/copyright DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    COMPONENT debian EXCLUDE_FROM_ALL)
foreach(component ALL debian)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS
        "${PROJECT_BINARY_DIR}" "${PROJECT_NAME}" ${component} /)
endforeach()
include(CPack)
