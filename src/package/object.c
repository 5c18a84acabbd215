#include "package/object.h"

#include "base/lexer.h"
#include "base/text.h"

#include <ctype.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t loader_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void fer_loader_lock(void)
{
    pthread_mutex_lock(&loader_mutex);
}

void fer_loader_unlock(void)
{
    pthread_mutex_unlock(&loader_mutex);
}

void fer_loader_reset(void)
{
    /* The lock knows its owner by a number that is another one in a child. */
    loader_mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

/* --- The file --------------------------------------------------------------------------------- */

#ifdef __x86_64__
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_NONE /* the loader judges */
#endif
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

static bool is_within(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

/* Whether the file has all that its program headers say. */
static bool has_segments(const char *data, size_t size, const ElfW(Ehdr) * header)
{
    if (header->e_phentsize != sizeof(ElfW(Phdr)) ||
        !is_within(header->e_phoff, (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)), size))
        return false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, data + header->e_phoff + i * sizeof segment, sizeof segment);
        if (!is_within(segment.p_offset, segment.p_filesz, size))
            return false;
    }
    return true;
}

fer_status fer_object_check_file(const char *name, const char *data, size_t size, fer_error *error)
{
    ElfW(Ehdr) header;
    if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: not a shared object; a package is a shared object, or a folder of C "
                        "files",
                        name);
    if (size < sizeof header)
        return fer_fail(error, FER_VALUE_ERROR, "%s: the shared object is cut short", name);
    memcpy(&header, data, sizeof header);
    if (header.e_ident[EI_CLASS] != OWN_CLASS ||
        (OWN_MACHINE != EM_NONE && header.e_machine != OWN_MACHINE))
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: a shared object for another kind of machine; compile it for this one",
                        name);
    if (header.e_type != ET_DYN)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: an object file or a program, not a shared object; link it with "
                        "-shared",
                        name);
    if (!has_segments(data, size, &header))
        return fer_fail(error, FER_VALUE_ERROR, "%s: the shared object is cut short", name);
    return FER_OK;
}

#define MAX_PARAMS 64 /* parameters and dtype variables of a declaration */

/* --- The table -------------------------------------------------------------------------------- */

typedef struct checker {
    const fer_object *object;
    const fer_abi_entry *entry;
    size_t index; /* among those that are not NULL */
    fer_error *error;
} checker;

__attribute__((format(printf, 2, 3))) static fer_status malformed(const checker *c,
                                                                  const char *format, ...)
{
    fer_text text = FER_TEXT_INIT;
    va_list arguments;
    va_start(arguments, format);
    fer_text_vprintf(&text, format, arguments);
    va_end(arguments);
    bool has_name = c->entry->struct_bytes >= sizeof *c->entry && c->entry->name != NULL;
    fer_status status =
        fer_fail(c->error, FER_VALUE_ERROR, "%s: entry %zu%s%.100s%s of the kernel table %s",
                 c->object->name, c->index, has_name ? " ('" : "", has_name ? c->entry->name : "",
                 has_name ? "')" : "", fer_text_string(&text));
    fer_text_free(&text);
    return status;
}

static bool is_dtype(fer_dl_dtype dtype)
{
    return fer_dtype_from_dlpack(dtype.code, dtype.bits, dtype.lanes) != FER_DTYPE_INVALID;
}

static fer_status check_tensor(const checker *c, size_t i)
{
    const fer_abi_tensor *tensor = &c->entry->tensors[i];
    bool is_shape = c->entry->kind == FER_ABI_SHAPE;
    if (tensor->name == NULL)
        return malformed(c, "has no name for tensor %zu", i);
    if (tensor->role != FER_ABI_RESULT && tensor->role != FER_ABI_OPERAND &&
        tensor->role != FER_ABI_INOUT)
        return malformed(c, "gives '%.80s' role %d; a role is 0 (result), 1 (operand) or 2 (inout)",
                         tensor->name, tensor->role);
    if (is_shape && tensor->role == FER_ABI_RESULT)
        return malformed(c, "is a shape function, which has operands only, but '%.80s' is a result",
                         tensor->name);
    if (i > 0 && tensor->role == FER_ABI_RESULT && tensor[-1].role != FER_ABI_RESULT)
        return malformed(c, "has the result '%.80s' behind an operand; results come first",
                         tensor->name);
    if (tensor->rank < FER_ABI_ANY_RANK || tensor->rank > FER_ABI_MAX_RANK)
        return malformed(c, "gives '%.80s' rank %d; a rank is 0 to %d, or -1 for any", tensor->name,
                         tensor->rank, FER_ABI_MAX_RANK);
    if (!is_dtype(tensor->dtype))
        return malformed(c, "gives '%.80s' a dtype of code %u, %u bits and %u lanes, which is none",
                         tensor->name, tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
    return FER_OK;
}

static fer_status check_param(const checker *c, size_t i)
{
    const fer_abi_param *param = &c->entry->params[i];
    if (param->name == NULL)
        return malformed(c, "has no name for parameter %zu", i);
    if (param->kind < FER_ABI_INT || param->kind > FER_ABI_DTYPE)
        return malformed(c, "gives parameter '%.80s' kind %d; a kind is 0 (int) to 4 (dtype)",
                         param->name, param->kind);
    if (param->kind == FER_ABI_STR && param->num_bytes > 0 && param->value.as_str == NULL)
        return malformed(c, "has no string for parameter '%.80s'", param->name);
    if (param->kind == FER_ABI_DTYPE && !is_dtype(param->value.as_dtype))
        return malformed(c,
                         "gives parameter '%.80s' a dtype of code %u, %u bits and %u lanes, "
                         "which is none",
                         param->name, param->value.as_dtype.code, param->value.as_dtype.bits,
                         param->value.as_dtype.lanes);
    return FER_OK;
}

/* Whether a declaration's text begins with this name. */
static bool is_signature_of(const char *signature, const char *name)
{
    size_t length = strlen(name);
    return strncmp(signature, name, length) == 0 && signature[length] != '_' &&
           !isalnum((unsigned char)signature[length]);
}

static fer_status check_entry(const checker *c)
{
    const fer_abi_entry *entry = c->entry;
    if (entry->struct_bytes < sizeof *entry)
        return malformed(c, "has struct_bytes %u, but an entry of version %d has %zu bytes",
                         entry->struct_bytes, FER_ABI_VERSION, sizeof *entry);
    if (entry->name == NULL)
        return malformed(c, "has no name");
    if (!fer_is_name(entry->name))
        return malformed(c, "has a name that is none; a name is letters, digits and '_', no digit "
                            "first");
    if (entry->kind != FER_ABI_KERNEL && entry->kind != FER_ABI_MAP && entry->kind != FER_ABI_SHAPE)
        return malformed(c, "has kind %d; a kind is 0 (kernel), 1 (map) or 2 (shape)", entry->kind);
    if (entry->run == NULL)
        return malformed(c, "has no function");
    if (entry->num_tensors == 0 || entry->num_tensors > FER_ABI_MAX_TENSORS)
        return malformed(c, "has %u tensors; a kernel has 1 to %d", entry->num_tensors,
                         FER_ABI_MAX_TENSORS);
    if (entry->tensors == NULL)
        return malformed(c, "has no list of its tensors");
    if (entry->num_params > MAX_PARAMS)
        return malformed(c, "has %u parameters; an op has at most %d", entry->num_params,
                         MAX_PARAMS);
    if (entry->num_params > 0 && entry->params == NULL)
        return malformed(c, "has no list of its %u parameters", entry->num_params);
    if (entry->signature != NULL && !is_signature_of(entry->signature, entry->name))
        return malformed(c, "has the signature of something else, '%.80s'", entry->signature);
    for (size_t i = 0; i < entry->num_tensors; i++)
        FER_TRY(check_tensor(c, i));
    for (size_t i = 0; i < entry->num_params; i++)
        FER_TRY(check_param(c, i));
    return FER_OK;
}

static fer_status check_table(const fer_object *object, fer_error *error)
{
    const fer_abi_table *table = object->table;
    if (table == NULL)
        return fer_fail(error, FER_VALUE_ERROR, "%s: " FER_ABI_TABLE_SYMBOL "() gives NULL",
                        object->name);
    if (table->abi_version != FER_ABI_VERSION)
        return fer_fail(error, FER_UNSUPPORTED_ERROR,
                        "%s has kernel table version %u, this library reads version %d; compile it "
                        "against the ferrule/abi.h of this library",
                        object->name, table->abi_version, FER_ABI_VERSION);
    if (table->struct_bytes < sizeof *table)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: the kernel table has struct_bytes %u, but one of version %d has %zu "
                        "bytes",
                        object->name, table->struct_bytes, FER_ABI_VERSION, sizeof *table);
    if (table->begin > table->end || (table->begin == NULL && table->end != NULL))
        return fer_fail(error, FER_VALUE_ERROR, "%s: the kernel table ends before it begins",
                        object->name);
    checker c = {.object = object, .error = error};
    for (const fer_abi_entry *const *p = table->begin; p < table->end; p++) {
        c.entry = *p;
        if (*p == NULL)
            continue;
        FER_TRY(check_entry(&c));
        c.index++;
    }
    return FER_OK;
}

/* --- Loading ---------------------------------------------------------------------------------- */

/* What a table's function says is used as long as the object is loaded. */
static fer_status open_table(fer_object *object, fer_error *error)
{
    fer_loader_lock();
    object->handle = dlopen(object->path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = object->handle == NULL ? dlerror() : NULL;
    object->has_openmp = object->handle != NULL && fer_openmp_find(object->handle, &object->openmp);
    void *symbol = object->handle == NULL ? NULL : dlsym(object->handle, FER_ABI_TABLE_SYMBOL);
    if (symbol != NULL) { /* one at a time: it may make the table now */
        fer_abi_table_function function;
        memcpy(&function, &symbol, sizeof function);
        object->table = function();
    }
    fer_loader_unlock();
    if (object->handle == NULL)
        return fer_fail(error, FER_IO_ERROR, "%s: the shared object cannot be loaded: %s",
                        object->name, reason);
    if (symbol == NULL)
        return fer_fail(error, FER_VALUE_ERROR,
                        "%s: the shared object has no kernel table; a package exports the "
                        "function " FER_ABI_TABLE_SYMBOL " (see ferrule/abi.h)",
                        object->name);
    return check_table(object, error);
}

fer_status fer_object_load(const char *path, const char *name, const char *digest,
                           fer_object **out_object, fer_error *error)
{
    *out_object = NULL;
    fer_object *object = calloc(1, sizeof *object);
    if (object == NULL)
        return fer_fail_memory(error);
    memcpy(object->digest, digest, FER_DIGEST_HEX);
    fer_status status = fer_copy_string(path, &object->path, error);
    if (status == FER_OK)
        status = fer_copy_string(name, &object->name, error);
    if (status == FER_OK)
        status = open_table(object, error);
    if (status == FER_OK)
        *out_object = object;
    else
        fer_object_unload(object);
    return status;
}

void *fer_object_symbol(const fer_object *object, const char *symbol)
{
    fer_loader_lock();
    void *found = dlsym(object->handle, symbol);
    fer_loader_unlock();
    return found;
}

void fer_object_unload(fer_object *object)
{
    if (object == NULL)
        return;
    fer_loader_lock();
    if (object->handle != NULL)
        dlclose(object->handle);
    fer_loader_unlock();
    free(object->name);
    free(object->path);
    free(object);
}
