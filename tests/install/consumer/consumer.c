/* Adds two vectors with the standard package, and prints where that is and the sums. */
#include <ferrule/ferrule.h>
#include <stdio.h>

static fer_status add(float *sums, fer_error *error)
{
    const fer_device cpu = {0};
    const int64_t shape[] = {3};
    fer_op *op = NULL;
    fer_tensor *operands[2] = {NULL, NULL};
    fer_tensor *result = NULL;
    fer_status status =
        fer_declare(&(fer_declaration){.kernel = "add", .packages = {"std"}}, &op, error);
    if (status == FER_OK)
        status =
            fer_tensor_copy_from(FER_F32, 1, shape, (float[]){1, 2, 3}, cpu, &operands[0], error);
    if (status == FER_OK)
        status = fer_tensor_copy_from(FER_F32, 1, shape, (float[]){10, 20, 30}, cpu, &operands[1],
                                      error);
    if (status == FER_OK)
        status = fer_call(op, operands, 2, &result, 1, error);
    for (int i = 0; status == FER_OK && i < 3; i++)
        sums[i] = ((const float *)fer_tensor_const_data(result))[i];
    if (status == FER_OK)
        printf("%s\n", fer_op_extension(op, 0));
    fer_tensor_release(result);
    fer_tensor_release(operands[1]);
    fer_tensor_release(operands[0]);
    fer_op_release(op);
    return status;
}

int main(void)
{
    fer_error error = FER_ERROR_INIT;
    float sums[3];
    if (add(sums, &error) != FER_OK) {
        fprintf(stderr, "%s\n", error.message);
        fer_error_clear(&error);
        return 1;
    }
    printf("%g %g %g\n", (double)sums[0], (double)sums[1], (double)sums[2]);
    return 0;
}
