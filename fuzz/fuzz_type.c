/* Any text as a type: it parses or is refused, and what parses returns from its own text. */
#include <ferrule/type.h>

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    fer_type *type, *again;
    fer_error error = FER_ERROR_INIT;
    if (fer_type_parse(text, &type, &error) == FER_OK) {
        require(fer_type_parse(fer_type_text(type), &again, NULL) == FER_OK);
        require(fer_type_equal(type, again));
        require(strcmp(fer_type_text(type), fer_type_text(again)) == 0);
        fer_type_release(again);
        fer_type_release(type);
    } else {
        require(error.message != NULL && type == NULL);
    }
    fer_error_clear(&error);
    free(text);
    return 0;
}
