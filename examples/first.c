/* Declares a kernel, calls it on ones, prints the result: first [KERNELS] */
#include <ferrule/ferrule.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    fer_error error = FER_ERROR_INIT;
    fer_op *downsample = NULL;
    fer_tensor *x = NULL;
    fer_tensor *y = NULL;
    char *text = NULL;

    /* By the name of a kernel that has a SIGNATURE; `.signature` takes a declaration instead. */
    fer_status status = fer_declare(
        &(fer_declaration){
            .kernel = "downsample",
            .packages = {argc > 1 ? argv[1] : "kernels"}, /* from the working directory */
        },
        &downsample, &error);
    if (status == FER_OK)
        status = fer_tensor_ones(FER_F32, 3, (int64_t[]){2, 8, 3}, (fer_device){0}, &x, &error);
    if (status == FER_OK)
        status = fer_call(downsample, &x, 1, &y, 1, &error);
    if (status == FER_OK)
        status = fer_tensor_print(y, &text, &error);

    if (status == FER_OK)
        puts(text);
    else
        fprintf(stderr, "%s: %s\n", fer_status_name(status), error.message);
    fer_string_free(text);
    fer_tensor_release(y);
    fer_tensor_release(x);
    fer_op_release(downsample);
    fer_error_clear(&error);
    return status == FER_OK ? 0 : 1;
}
