/* Tensors as text for people: the type, then brackets as deep as the rank, elements in columns.
 *
 *     f32[2, 3]
 *     [[  1, 2.5,  -3],
 *      [0.1,   0, nan]]
 */
#include "base/text.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_WHOLE_ELEMENTS 1000 /* a larger tensor shows only the edges of its long axes */
#define EDGE 3
#define LINE_COLUMNS 100
#define ELEMENT_TEXT 32

typedef struct printing {
    const fer_tensor *tensor;
    bool is_shortened;
    int width; /* of the widest element that is shown */
    fer_text *text;
} printing;

static void format_float(double value, char text[ELEMENT_TEXT])
{
    if (isnan(value))
        snprintf(text, ELEMENT_TEXT, "nan"); /* a NaN's sign says nothing */
    else
        snprintf(text, ELEMENT_TEXT, "%.6g", value);
}

static void format_element(const fer_tensor *tensor, int64_t index, char text[ELEMENT_TEXT])
{
    fer_number element = fer_tensor_element(tensor, index);
    switch (element.kind) {
    case FER_NUMBER_BOOL:
        snprintf(text, ELEMENT_TEXT, "%s", element.value.as_bool ? "true" : "false");
        break;
    case FER_NUMBER_FLOAT:
        format_float(element.value.as_float, text);
        break;
    case FER_NUMBER_INT:
        snprintf(text, ELEMENT_TEXT, "%" PRId64, element.value.as_int);
        break;
    case FER_NUMBER_UINT:
        snprintf(text, ELEMENT_TEXT, "%" PRIu64, element.value.as_uint);
        break;
    }
}

static bool is_cut(const printing *printer, int64_t extent)
{
    return printer->is_shortened && extent > 2 * EDGE;
}

/* The position on an axis that is shown after `i`. */
static int64_t next_shown(const printing *printer, int64_t extent, int64_t i)
{
    return is_cut(printer, extent) && i == EDGE - 1 ? extent - EDGE : i + 1;
}

/* Widens the column to what is shown of the part that starts at `index` of its axis's elements.
 * Depth is at most the rank, which is at most FER_MAX_RANK; so for print_part. */
static void measure_part(printing *printer, size_t axis, int64_t index)
{
    const fer_tensor *tensor = printer->tensor;
    if (axis == tensor->rank) {
        char text[ELEMENT_TEXT];
        format_element(tensor, index, text);
        int width = (int)strlen(text);
        if (width > printer->width)
            printer->width = width;
        return;
    }
    int64_t extent = tensor->extents[axis];
    for (int64_t i = 0; i < extent; i = next_shown(printer, extent, i))
        measure_part(printer, axis + 1, index * extent + i);
}

static void start_line(printing *printer, size_t num_breaks, size_t indentation)
{
    for (size_t i = 0; i < num_breaks; i++)
        fer_text_append_char(printer->text, '\n');
    fer_text_printf(printer->text, "%*s", (int)indentation, "");
}

/* What stands between two neighbours on an axis: a space in a row, unless it is full; a line for
 * each row, and an empty one more for each axis above. */
static void separate(printing *printer, size_t axis, int64_t num_before)
{
    size_t rank = printer->tensor->rank;
    fer_text_append_char(printer->text, ',');
    int per_line = (LINE_COLUMNS - (int)rank) / (printer->width + 2);
    if (axis + 1 < rank)
        start_line(printer, rank - 1 - axis, axis + 1);
    else if (num_before % (per_line < 1 ? 1 : per_line) == 0)
        start_line(printer, 1, axis + 1);
    else
        fer_text_append_char(printer->text, ' ');
}

static void print_part(printing *printer, size_t axis, int64_t index)
{
    const fer_tensor *tensor = printer->tensor;
    if (axis == tensor->rank) {
        char text[ELEMENT_TEXT];
        format_element(tensor, index, text);
        fer_text_printf(printer->text, "%*s", printer->width, text);
        return;
    }
    int64_t extent = tensor->extents[axis];
    int64_t num_before = 0;
    fer_text_append_char(printer->text, '[');
    for (int64_t i = 0; i < extent; i = next_shown(printer, extent, i)) {
        if (num_before > 0)
            separate(printer, axis, num_before);
        if (num_before == EDGE && is_cut(printer, extent)) {
            fer_text_append(printer->text, "...");
            separate(printer, axis, ++num_before);
        }
        print_part(printer, axis + 1, index * extent + i);
        num_before++;
    }
    fer_text_append_char(printer->text, ']');
}

static void print_elements(const fer_tensor *tensor, fer_text *text)
{
    printing printer = {
        .tensor = tensor,
        .is_shortened = tensor->num_elements > MAX_WHOLE_ELEMENTS,
        .text = text,
    };
    /* The decimal point is a point, whatever the process's locale says. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t kept = plain == (locale_t)0 ? (locale_t)0 : uselocale(plain);
    measure_part(&printer, 0, 0);
    print_part(&printer, 0, 0);
    if (plain != (locale_t)0) {
        uselocale(kept);
        freelocale(plain);
    }
}

fer_status fer_tensor_print(const fer_tensor *tensor, char **out_text, fer_error *error)
{
    *out_text = NULL;
    fer_type *type = NULL;
    FER_TRY(fer_tensor_type(tensor, &type, error));
    fer_text text = FER_TEXT_INIT;
    fer_text_append(&text, fer_type_text(type));
    fer_type_release(type);
    fer_text_append_char(&text, '\n');
    if (tensor->num_elements == 0 && tensor->rank > 0)
        fer_text_append(&text, "[]");
    else
        print_elements(tensor, &text);
    return fer_text_take(&text, out_text, error);
}
