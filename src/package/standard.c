/* Finding the packages that come with Ferrule. An installation may be moved, and a library may be
 * linked into any program, so no path is compiled in but those from one installed folder to
 * another. */
#include "base/path.h"
#include "base/text.h"
#include "package/package.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STANDARD "std"
#define BLAS "blas" /* a folder in the standard one */

#define KERNELS "ferrule/kernels"

/* From the folder of the shared library, and from that of a program which has the library in
 * itself; the build says where it installs them. */
#ifndef FERRULE_LIBRARY_TO_KERNELS
#define FERRULE_LIBRARY_TO_KERNELS "../share/" KERNELS
#endif
#ifndef FERRULE_PROGRAM_TO_KERNELS
#define FERRULE_PROGRAM_TO_KERNELS "../share/" KERNELS
#endif
/* The build folder has a link there. */
#define BUILD_TO_KERNELS "share/" KERNELS

/* What XDG_DATA_DIRS is by default: https://specifications.freedesktop.org/basedir-spec/ */
#define SYSTEM_DATA_FOLDERS "/usr/local/share:/usr/share"

/* Takes `path`; `out_path` stays NULL when there is no such folder. */
static fer_status try_folder(fer_text *path, char **out_path, fer_error *error)
{
    struct stat about;
    fer_status status = FER_OK;
    const char *folder = fer_text_string(path);
    if (path->has_failed)
        status = fer_fail_memory(error);
    else if (stat(folder, &about) == 0 && S_ISDIR(about.st_mode))
        status = fer_path_absolute(folder, out_path, error);
    fer_text_free(path);
    return status;
}

/* The folder that this code is in, without links: /lib may be one to /usr/lib. `folder` has
 * PATH_MAX bytes. For the program itself dladdr only knows what it was called as. */
static bool find_own_folder(char *folder, bool *out_is_program)
{
    Dl_info about;
    struct link_map *object = NULL;
    int is_known =
        dladdr1((void *)(uintptr_t)fer_version, &about, (void **)(void *)&object, RTLD_DL_LINKMAP);
    *out_is_program = is_known == 0 || object == NULL || object->l_name[0] == '\0';
    if (realpath(*out_is_program ? "/proc/self/exe" : object->l_name, folder) == NULL)
        return false;
    *strrchr(folder, '/') = '\0';
    return true;
}

static fer_status find_beside_itself(char **out_path, fer_error *error)
{
    char folder[PATH_MAX];
    bool is_program;
    if (!find_own_folder(folder, &is_program))
        return FER_OK;
    const char *const ways[] = {BUILD_TO_KERNELS, is_program ? FERRULE_PROGRAM_TO_KERNELS
                                                             : FERRULE_LIBRARY_TO_KERNELS};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && *out_path == NULL; i++) {
        fer_text path = FER_TEXT_INIT;
        fer_text_printf(&path, "%s/%s", folder, ways[i]);
        FER_TRY(try_folder(&path, out_path, error));
    }
    return FER_OK;
}

/* A relative folder in the list is to be ignored. */
static fer_status find_in_system(char **out_path, fer_error *error)
{
    const char *folders = getenv("XDG_DATA_DIRS");
    if (folders == NULL || *folders == '\0')
        folders = SYSTEM_DATA_FOLDERS;
    while (*folders != '\0' && *out_path == NULL) {
        size_t length = strcspn(folders, ":");
        fer_text path = FER_TEXT_INIT;
        fer_text_append_bytes(&path, folders, length);
        fer_text_append(&path, "/" KERNELS);
        if (folders[0] == '/')
            FER_TRY(try_folder(&path, out_path, error));
        fer_text_free(&path);
        folders += length;
        folders += *folders == ':';
    }
    return FER_OK;
}

static fer_status find_standard_package(char **out_path, fer_error *error)
{
    *out_path = NULL;
    const char *given = getenv("FERRULE_STD");
    if (given != NULL && *given != '\0')
        return fer_path_absolute(given, out_path, error);
    FER_TRY(find_beside_itself(out_path, error));
    if (*out_path == NULL)
        FER_TRY(find_in_system(out_path, error));
    if (*out_path != NULL)
        return FER_OK;
    return fer_fail(error, FER_IO_ERROR,
                    "the standard package was not found; set FERRULE_STD to its folder");
}

const char *const fer_own_packages[FER_NUM_OWN_PACKAGES] = {STANDARD, BLAS};

bool fer_is_own_package(const char *path)
{
    return strcmp(path, STANDARD) == 0 || strcmp(path, BLAS) == 0;
}

fer_status fer_own_package(const char *name, char **out_path, fer_error *error)
{
    char *standard = NULL;
    *out_path = NULL;
    FER_TRY(find_standard_package(&standard, error));
    if (strcmp(name, STANDARD) == 0) {
        *out_path = standard;
        return FER_OK;
    }
    fer_status status = fer_path_join(standard, name, out_path, error);
    free(standard);
    return status;
}
