/* matmul and conv2d of the standard package against slow references on random shapes. */
#include "testing_std.h"

/* The next sum, each operation rounded to what matmul computes in. A double holds a product of two
 * floats, and rounds their sum as if it were rounded once, to a float. */
static double next_sum(fer_dtype dtype, double sum, double left, double right)
{
    volatile double product = left * right; /* or a compiler might fuse it with the sum */
    if (dtype == FER_F64)
        return sum + product;
    return (double)(float)(sum + (double)(float)product);
}

static void check_element(const fer_tensor *const tensors[3], int64_t row, int64_t column,
                          const int64_t sizes[3])
{
    const fer_dtype dtype = fer_tensor_dtype(tensors[2]);
    const int64_t k = sizes[1];
    const int64_t n = sizes[2];
    const int64_t matrix = row / sizes[0];
    double sum = 0;
    uint64_t bits = 0;
    for (int64_t l = 0; l < k; l++) {
        const wide left = read_element(tensors[0], row * k + l);
        const wide right = read_element(tensors[1], (matrix * k + l) * n + column);
        if (is_float(dtype))
            sum = next_sum(dtype, sum, left.f, right.f);
        else
            bits += (uint64_t)left.i * (uint64_t)right.i;
    }
    const wide expected =
        is_float(dtype) ? (wide){.f = rounded(dtype, sum)} : (wide){.i = wrapped(dtype, bits)};
    assert_same(dtype, read_element(tensors[2], row * n + column), expected);
}

/* A product of batches of matrices: exactly what three plain loops give. */
static void check_product(const fer_op *op, fer_dtype dtype, size_t num_batch_axes,
                          const int64_t *batch, const int64_t sizes[3])
{
    int64_t a_extents[4], b_extents[4], y_extents[4];
    int64_t num_rows = sizes[0];
    for (size_t i = 0; i < num_batch_axes; i++) {
        a_extents[i] = b_extents[i] = y_extents[i] = batch[i];
        num_rows *= batch[i];
    }
    a_extents[num_batch_axes] = y_extents[num_batch_axes] = sizes[0];
    a_extents[num_batch_axes + 1] = b_extents[num_batch_axes] = sizes[1];
    b_extents[num_batch_axes + 1] = y_extents[num_batch_axes + 1] = sizes[2];
    fer_tensor *a = random_tensor(dtype, num_batch_axes + 2, a_extents);
    fer_tensor *b = random_tensor(dtype, num_batch_axes + 2, b_extents);
    fer_tensor *y = call(op, a, b);
    assert_shape(y, num_batch_axes + 2, y_extents);
    const fer_tensor *const tensors[3] = {a, b, y};
    for (int64_t row = 0; row < num_rows; row++)
        for (int64_t column = 0; column < sizes[2]; column++)
            check_element(tensors, row, column, sizes);
    release_3(a, b, y);
}

static void test_matmul(void **state)
{
    (void)state;
    fer_op *op = standard("matmul");
    for (int round = 0; round < 2 * ROUNDS; round++) {
        const int64_t sizes[3] = {random_extent(), random_extent(), random_extent()};
        const int64_t batch[2] = {random_extent() % 4, random_extent() % 4};
        check_product(op, NUMERIC[round % NUM_NUMERIC], random_bits() % 3, batch, sizes);
    }
    fer_op_release(op);
}

/* Sizes beyond the blocks that it works in, and just off their edges. */
static void test_large_matmul(void **state)
{
    (void)state;
    static const int64_t SIZES[][3] = {{97, 259, 33}, {13, 513, 130}, {24, 256, 64}, {12, 1, 65}};
    fer_op *op = standard("matmul");
    for (size_t i = 0; i < COUNT(SIZES); i++)
        for (int d = 0; d < NUM_NUMERIC; d++)
            if (i > 0 || is_float(NUMERIC[d]))
                check_product(op, NUMERIC[d], i % 2, (int64_t[]){2}, SIZES[i]);
    /* More columns than are laid out at a time. */
    check_product(op, FER_F32, 0, NULL, (int64_t[]){12, 3, 4200});
    check_product(op, FER_I8, 0, NULL, (int64_t[]){16, 2, 17000});
    fer_op_release(op);
}

/* Other extents of what is empty may be too large to multiply, or to have memory for. */
static void test_huge_extents_of_nothing(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 40;
    fer_op *op = standard("matmul");
    for (int round = 0; round < 2; round++) {
        const fer_dtype dtype = round == 0 ? FER_F16 : FER_F32;
        fer_tensor *a = empty_tensor(dtype, 3, (int64_t[]){0, huge, huge});
        fer_tensor *b = empty_tensor(dtype, 3, (int64_t[]){0, huge, huge});
        fer_tensor *y = call(op, a, b);
        assert_shape(y, 3, (int64_t[]){0, huge, huge});
        release_3(a, b, y);
    }
    fer_op_release(op);
    static const char *const along_rows[] = {"softmax", "cumsum", "transpose", "sum"};
    for (size_t i = 0; i < COUNT(along_rows); i++) {
        op = standard(along_rows[i]);
        fer_tensor *x = empty_tensor(FER_F32, 3, (int64_t[]){0, huge, huge});
        fer_tensor *y = call(op, x, NULL);
        assert_int_equal(fer_tensor_num_elements(y), 0);
        release_3(x, y, NULL);
        fer_op_release(op);
    }
}

/* --- conv2d ----------------------------------------------------------------------------------- */

typedef struct convolution {
    int64_t stride;
    int64_t padding;
    int64_t dilation;
    int64_t x[4];      /* b, c, h, w */
    int64_t weight[4]; /* o, c, kh, kw */
    int64_t y[4];      /* b, o, rows, columns */
} convolution;

static double element_4(const fer_tensor *x, const int64_t *e, int64_t i, int64_t j, int64_t k,
                        int64_t l)
{
    return read_element(x, ((i * e[1] + j) * e[2] + k) * e[3] + l).f;
}

static void check_pixel(const convolution *c, fer_tensor *const tensors[3], const int64_t at[4])
{
    double total = 0;
    double magnitude = 0;
    for (int64_t i = 0; i < c->x[1]; i++)
        for (int64_t p = 0; p < c->weight[2]; p++)
            for (int64_t q = 0; q < c->weight[3]; q++) {
                const int64_t row = at[2] * c->stride + p * c->dilation - c->padding;
                const int64_t column = at[3] * c->stride + q * c->dilation - c->padding;
                if (row < 0 || row >= c->x[2] || column < 0 || column >= c->x[3])
                    continue;
                const double product = element_4(tensors[0], c->x, at[0], i, row, column) *
                                       element_4(tensors[1], c->weight, at[1], i, p, q);
                total += product;
                magnitude += fabs(product);
            }
    const fer_dtype dtype = fer_tensor_dtype(tensors[2]);
    assert_near(dtype, element_4(tensors[2], c->y, at[0], at[1], at[2], at[3]), total,
                dtype == FER_F64 ? magnitude : 1e-6 / precision(dtype) * magnitude);
}

static void check_convolution(const fer_op *op, fer_dtype dtype, convolution *c)
{
    fer_tensor *x = random_tensor(dtype, 4, c->x);
    fer_tensor *weight = random_tensor(dtype, 4, c->weight);
    fer_tensor *y = call(op, x, weight);
    c->y[0] = c->x[0];
    c->y[1] = c->weight[0];
    for (int i = 2; i < 4; i++) {
        const int64_t reach = c->dilation * (c->weight[i] - 1) + 1;
        c->y[i] = (c->x[i] + 2 * c->padding - reach) / c->stride + 1;
    }
    assert_shape(y, 4, c->y);
    fer_tensor *const tensors[3] = {x, weight, y};
    int64_t at[4];
    for (at[0] = 0; at[0] < c->y[0]; at[0]++)
        for (at[1] = 0; at[1] < c->y[1]; at[1]++)
            for (at[2] = 0; at[2] < c->y[2]; at[2]++)
                for (at[3] = 0; at[3] < c->y[3]; at[3]++)
                    check_pixel(c, tensors, at);
    release_3(x, weight, y);
}

static void test_conv2d(void **state)
{
    (void)state;
    static const int64_t settings[][3] = {{1, 0, 1}, {1, 1, 2}, {2, 0, 1}, {3, 2, 3}};
    for (size_t s = 0; s < COUNT(settings); s++) {
        convolution c = {
            .stride = settings[s][0], .padding = settings[s][1], .dilation = settings[s][2]};
        fer_op *op = standard("conv2d");
        op = with_int(with_int(op, "stride", c.stride), "padding", c.padding);
        op = with_int(op, "dilation", c.dilation);
        for (int round = 0; round < 20; round++) {
            const int64_t extents[] = {(int64_t)(random_bits() % 3), (int64_t)(random_bits() % 3),
                                       random_extent(), random_extent()};
            const int64_t num_channels = (int64_t)(random_bits() % 4);
            for (int i = 0; i < 4; i++)
                c.x[i] = extents[i];
            c.x[1] = c.weight[1] = num_channels;
            c.weight[0] = extents[1];
            for (int i = 2; i < 4; i++) {
                /* at least one place */
                c.x[i] += c.x[i] + 2 * c.padding == 0;
                const int64_t largest = (c.x[i] + 2 * c.padding - 1) / c.dilation + 1;
                c.weight[i] = 1 + (int64_t)(random_bits() % (uint64_t)(largest < 5 ? largest : 5));
            }
            check_convolution(op, FLOATS[round % NUM_FLOATS], &c);
        }
        fer_op_release(op);
    }
}

/* As large as they come: one place, with the weight's middle on the only element. */
static void test_conv2d_with_huge_parameters(void **state)
{
    (void)state;
    fer_op *op = with_int(with_int(standard("conv2d"), "stride", INT64_MAX), "padding", 1);
    fer_tensor *x = random_tensor(FER_F32, 4, (int64_t[]){1, 1, 1, 1});
    fer_tensor *weight = random_tensor(FER_F32, 4, (int64_t[]){1, 1, 3, 3});
    fer_tensor *y = call(op, x, weight);
    assert_shape(y, 4, (int64_t[]){1, 1, 1, 1});
    assert_near(FER_F32, read_element(y, 0).f, read_element(x, 0).f * read_element(weight, 4).f, 0);
    fer_tensor_release(y);
    const int64_t far = INT64_MAX / 2 - 1;
    op = with_int(with_int(op, "padding", far), "dilation", far);
    y = call(op, x, weight);
    assert_shape(y, 4, (int64_t[]){1, 1, 1, 1});
    assert_near(FER_F32, read_element(y, 0).f, read_element(x, 0).f * read_element(weight, 4).f, 0);
    release_3(x, weight, y);
    fer_op_release(op);
}

static void test_conv2d_refuses(void **state)
{
    (void)state;
    fer_op *op = standard("conv2d");
    fer_tensor *x = random_tensor(FER_F32, 4, (int64_t[]){1, 1, 2, 5});
    fer_tensor *weight = random_tensor(FER_F32, 4, (int64_t[]){1, 1, 3, 3});
    fer_tensor *y = NULL;
    fer_tensor *operands[] = {x, weight};
    ASSERT_FAILS(&error, FER_VALUE_ERROR, fer_call(op, operands, 2, &y, 1, &error), "conv2d", "kh",
                 "kh = 3");
    op = with_int(op, "padding", 1);
    y = call(op, x, weight);
    assert_shape(y, 4, (int64_t[]){1, 1, 2, 5});
    release_3(x, weight, y);

    fer_param stride = {.name = "stride", .kind = FER_PARAM_INT, .has_value = true};
    fer_op *special = NULL;
    ASSERT_FAILS(&error, FER_ZERO_DIVISION_ERROR,
                 fer_op_specialise(op, &stride, 1, &special, &error), "conv2d");
    assert_null(special);
    fer_op_release(op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_large_matmul),
        cmocka_unit_test(test_huge_extents_of_nothing),
        cmocka_unit_test(test_conv2d),
        cmocka_unit_test(test_conv2d_with_huge_parameters),
        cmocka_unit_test(test_conv2d_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
