# The Python package: the extension module `ferrule._core` and, in a wheel, all that it needs beside it.
#
# The library is linked into the extension. A shared one beside it would have to be found by the loader
# in a folder that nobody but this package names, and two packages of one process could bring two; a
# static one needs no search, and what it exports is hidden. So a wheel is the extension, the command
# and the folders of an installation, which it finds from where it is itself.

# NumPy's headers alone: it is not needed where the package runs. Those of version 2 serve both.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
if(Python_NumPy_VERSION VERSION_LESS 2)
    message(FATAL_ERROR "${Python_EXECUTABLE} has NumPy ${Python_NumPy_VERSION}; the headers of 2 or later are needed")
endif()

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
Python_add_library(ferrule_python MODULE WITH_SOABI ${python_sources})
set_target_properties(ferrule_python PROPERTIES
    OUTPUT_NAME _core
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/ferrule")
target_link_libraries(ferrule_python PRIVATE ferrule_static ferrule_flags)
target_link_options(ferrule_python PRIVATE -Wl,--exclude-libs,ALL)
# Python's own headers, and NumPy's, are not held to our warnings.
get_target_property(python_headers Python::Module INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(ferrule_python SYSTEM PRIVATE ${python_headers} ${Python_NumPy_INCLUDE_DIRS})

# In the build folder: a package to import from there, whose files are those of the source folder.
foreach(folder bin share/ferrule)
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/python/ferrule/${folder}")
endforeach()
file(GLOB python_modules CONFIGURE_DEPENDS python/ferrule/*.py python/ferrule/*.pyi
    python/ferrule/py.typed)
foreach(module IN LISTS python_modules)
    cmake_path(GET module FILENAME name)
    file(CREATE_LINK "${module}" "${PROJECT_BINARY_DIR}/python/ferrule/${name}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/kernels"
    "${PROJECT_BINARY_DIR}/python/ferrule/share/ferrule/kernels" SYMBOLIC)
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/include"
    "${PROJECT_BINARY_DIR}/python/ferrule/include" SYMBOLIC)
file(CREATE_LINK "${PROJECT_BINARY_DIR}/ferrule" "${PROJECT_BINARY_DIR}/python/ferrule/bin/ferrule"
    SYMBOLIC)

if(SKBUILD)
    # What is linked in wants its licence beside it.
    foreach(package libb2-dev libxxhash-dev libpng-dev zlib1g-dev)
        if(EXISTS "/usr/share/doc/${package}/copyright")
            install(FILES "/usr/share/doc/${package}/copyright" DESTINATION ferrule/licenses
                RENAME "${package}" COMPONENT python)
        endif()
    endforeach()
    install(TARGETS ferrule_python LIBRARY DESTINATION ferrule COMPONENT python)
    install(TARGETS ferrule_command RUNTIME DESTINATION ferrule/bin COMPONENT python)
    install(DIRECTORY kernels/ DESTINATION ferrule/share/ferrule/kernels COMPONENT python)
    install(DIRECTORY include/ferrule DESTINATION ferrule/include COMPONENT python
        FILES_MATCHING PATTERN "*.h")
endif()
