/* Paths and whole files. A path is bytes: any but 0 can be in it. */
#ifndef FERRULE_BASE_PATH_H
#define FERRULE_BASE_PATH_H

#include "base/error.h"

/* folder + "/" + name, for the caller to free; an absolute name stands alone. */
fer_status fer_path_join(const char *folder, const char *name, char **out_path, fer_error *error);
/* The absolute path, `.` and `..` resolved in the text only, so that a link keeps its name. */
fer_status fer_path_absolute(const char *path, char **out_path, fer_error *error);
/* What leads from one absolute path, a folder, to another, where that is shorter than the path
 * itself; else the path. For the caller to free. */
fer_status fer_path_shorten(const char *folder, const char *path, char **out_path,
                            fer_error *error);
/* Everything before the last slash ("." when there is none). */
fer_status fer_path_folder(const char *path, char **out_folder, fer_error *error);

/* The whole file with a 0 after its bytes, for the caller to free. IO names the path and the cause.
 */
fer_status fer_file_read(const char *path, char **out_data, size_t *out_size, fer_error *error);
/* Whole or absent: a temporary name beside it, then a rename. */
fer_status fer_file_write(const char *path, const void *data, size_t size, fer_error *error);
/* The same with the bytes of several parts, one after the other. */
typedef struct fer_bytes {
    const void *data;
    size_t size;
} fer_bytes;
fer_status fer_file_write_parts(const char *path, const fer_bytes *parts, size_t num_parts,
                                fer_error *error);
/* Makes a folder and its parents, each with mode 0700. */
fer_status fer_folder_make(const char *path, fer_error *error);
/* Removes a folder and what it holds, as far as that goes; never follows a link. */
void fer_folder_remove(const char *path);

#endif
