/* docs/standard.md has the declaration of every op of the standard package, as it is. */
#include "testing_std.h"

#include "base/path.h"
#include <ctype.h>
#include <ferrule/package.h>

/* Line ends and indents become one blank. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++)
        if (!isspace((unsigned char)*from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    *to = '\0';
}

static void test_every_op_is_documented(void **state)
{
    (void)state;
    char *manual = NULL;
    size_t size;
    ASSERT_OK(&error,
              fer_file_read(FERRULE_TEST_DATA "/../docs/standard.md", &manual, &size, &error));
    join_lines(manual);
    fer_package *package = NULL;
    ASSERT_OK(&error, fer_package_open("std", &package, &error));
    const size_t num_kernels = fer_package_num_kernels(package);
    assert_true(num_kernels > 40);
    for (size_t i = 0; i < num_kernels; i++) {
        const fer_kernel_info info = fer_package_kernel(package, i);
        assert_non_null(info.signature);
        if (strstr(manual, info.signature) == NULL)
            fail_msg("docs/standard.md lacks: %s", info.signature);
    }
    fer_package_release(package);
    free(manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
