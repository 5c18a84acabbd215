/* The canonical text of a form: Python arithmetic that parses back to it. */
#include "types/modulo.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct printer {
    fer_text text;
    fer_atom_set symbols; /* those printed so far */
} printer;

void fer_dim_append_text(fer_text *text, const fer_dim *dim, fer_binding loosest)
{
    bool is_open = dim->binding <= loosest;
    fer_text_append(text, is_open ? "" : "(");
    fer_text_append(text, dim->text);
    fer_text_append(text, is_open ? "" : ")");
}

/* An upper bound of the symbols that a text can show. */
static size_t count_symbols(fer_polynomial polynomial)
{
    size_t count = 0;
    for (size_t i = 0; i < polynomial.num_terms; i++)
        for (size_t j = 0; j < polynomial.terms[i].num_factors; j++) {
            const fer_atom *atom = polynomial.terms[i].factors[j];
            count += atom->name != NULL
                         ? 1
                         : atom->numerator->num_symbols + atom->denominator->num_symbols;
        }
    return count;
}

static void note_symbols(printer *printer, const fer_dim *dim)
{
    for (size_t i = 0; i < dim->num_symbols; i++)
        fer_atom_set_insert(&printer->symbols, dim->symbols[i]);
}

static void print_atom(printer *printer, const fer_atom *atom, bool is_bare)
{
    if (atom->name != NULL) {
        fer_atom_set_insert(&printer->symbols, atom);
        fer_text_append(&printer->text, atom->text);
        return;
    }
    note_symbols(printer, atom->numerator);
    note_symbols(printer, atom->denominator);
    fer_text_append(&printer->text, is_bare ? "" : "(");
    fer_text_append(&printer->text, atom->text);
    fer_text_append(&printer->text, is_bare ? "" : ")");
}

static void print_modulo(printer *printer, const fer_piece *piece, bool is_bare)
{
    note_symbols(printer, piece->left);
    note_symbols(printer, piece->right);
    fer_text_append(&printer->text, is_bare ? "" : "(");
    fer_dim_append_text(&printer->text, piece->left, FER_BINDS_PRODUCT);
    fer_text_append(&printer->text, " % ");
    fer_dim_append_text(&printer->text, piece->right, FER_BINDS_ATOM);
    fer_text_append(&printer->text, is_bare ? "" : ")");
}

/* A piece without its sign. `is_bare`: what binds like a product needs no parentheses; false behind
 * a sign, which would bind to its first operand only. */
static void print_piece(printer *printer, const fer_piece *piece, bool is_bare)
{
    uint64_t magnitude =
        (uint64_t)(piece->coefficient < 0 ? -piece->coefficient : piece->coefficient);
    size_t num_factors = piece->left != NULL ? 1 : piece->anchor->num_factors;
    bool has_number = magnitude != 1 || num_factors == 0;
    if (has_number)
        fer_text_printf(&printer->text, "%" PRIu64, magnitude);
    if (has_number && num_factors > 0)
        fer_text_append(&printer->text, " * ");
    is_bare = is_bare && !has_number && num_factors == 1;
    if (piece->left != NULL) {
        print_modulo(printer, piece, is_bare);
        return;
    }
    for (size_t i = 0; i < num_factors; i++) {
        fer_text_append(&printer->text, i > 0 ? " * " : "");
        print_atom(printer, piece->anchor->factors[i], is_bare);
    }
}

/* `- 9223372036854775808` would be no int64, so there the sign goes to the number. */
static void print_next_piece(printer *printer, const fer_piece *piece)
{
    bool is_smallest = piece->coefficient == INT64_MIN;
    fer_text_append(&printer->text, is_smallest ? " + -" : piece->coefficient < 0 ? " - " : " + ");
    print_piece(printer, piece, true);
}

static void print_pieces(printer *printer, const fer_piece *pieces, size_t num_pieces)
{
    size_t first = 0;
    while (first < num_pieces && pieces[first].coefficient < 0)
        first++;
    bool is_negative = first == num_pieces;
    if (is_negative) {
        first = 0;
        fer_text_append(&printer->text, "-");
    }
    print_piece(printer, &pieces[first], !is_negative);
    for (size_t i = 0; i < num_pieces; i++)
        if (i != first)
            print_next_piece(printer, &pieces[i]);
}

static fer_binding binding_of(const fer_piece *pieces, size_t num_pieces)
{
    if (num_pieces == 0)
        return FER_BINDS_ATOM;
    if (num_pieces > 1)
        return FER_BINDS_SUM;
    if (pieces->left != NULL || pieces->coefficient < 0)
        return FER_BINDS_PRODUCT;
    const fer_wide_term *term = pieces->anchor;
    bool is_symbol =
        term->coefficient == 1 && term->num_factors == 1 && term->factors[0]->name != NULL;
    return term->num_factors == 0 || is_symbol ? FER_BINDS_ATOM : FER_BINDS_PRODUCT;
}

fer_status fer_polynomial_print(fer_scratch *scratch, fer_polynomial polynomial,
                                fer_printed *out_printed, fer_error *error)
{
    printer printer = {.text = FER_TEXT_INIT};
    FER_TRY(fer_atom_set_start(scratch, count_symbols(polynomial), &printer.symbols, error));
    fer_piece *pieces;
    size_t num_pieces;
    FER_TRY(fer_polynomial_split(scratch, polynomial, &pieces, &num_pieces, error));
    if (num_pieces == 0)
        fer_text_append(&printer.text, "0");
    else
        print_pieces(&printer, pieces, num_pieces);
    FER_TRY(fer_text_take(&printer.text, &out_printed->text, error));
    out_printed->binding = binding_of(pieces, num_pieces);
    out_printed->symbols = printer.symbols.items;
    out_printed->num_symbols = printer.symbols.num_items;
    return FER_OK;
}
