/* The functions that the compiler's checks call in the sanitized guest (build/flags.mjs). The
   product does not contain this file. Clang's own library of these functions needs an operating
   system. Each function reports the kind and the place of an undefined behaviour, and then ends
   the guest. With CF_SANITIZER_CONTINUES the guest continues, and each place is reported once. */
#include "host.h"
#include <stdbool.h>
#include <stdio.h>

/* The layout of clang's SourceLocation, which is the first field of the data of a check. */
typedef struct Place {
    const char *file;
    uint32_t line, column;
} Place;

/* The data of a check of a pointer. `log_alignment` has the logarithm of the needed alignment. */
typedef struct PointerData {
    Place place;
    const void *type;
    uint8_t log_alignment, access;
} PointerData;

/* The column of a place that was reported. */
#define REPORTED UINT32_MAX

static void report(Place *place, const char *kind)
{
    char text[256];
    int n;

    if (place->column == REPORTED)
        return;
    n = snprintf(text, sizeof(text), "undefined behaviour: %s at %s:%u:%u\n", kind, place->file, place->line, place->column);
    place->column = REPORTED;
    n = n < 0 ? 0 : n < (int)sizeof(text) ? n : (int)sizeof(text) - 1;
    host_write(2, text, n);
#ifndef CF_SANITIZER_CONTINUES
    host_fatal(CF_FATAL_INVARIANT, text, n ? n - 1 : 0);
#endif
}

static void stop(Place *place, const char *kind)
{
    report(place, kind);
    __builtin_trap();
}

#define CHECK(name, kind, ...) \
    void __ubsan_handle_##name(Place *place, ##__VA_ARGS__); \
    void __ubsan_handle_##name(Place *place, ##__VA_ARGS__) { report(place, kind); }

CHECK(add_overflow, "overflow of +", uintptr_t left, uintptr_t right)
CHECK(sub_overflow, "overflow of -", uintptr_t left, uintptr_t right)
CHECK(mul_overflow, "overflow of *", uintptr_t left, uintptr_t right)
CHECK(negate_overflow, "overflow of a negation", uintptr_t value)
CHECK(divrem_overflow, "a division", uintptr_t left, uintptr_t right)
CHECK(shift_out_of_bounds, "a shift", uintptr_t left, uintptr_t right)
CHECK(out_of_bounds, "an index out of bounds", uintptr_t index)
CHECK(vla_bound_not_positive, "the length of an array", uintptr_t bound)
CHECK(float_cast_overflow, "a conversion of a float", uintptr_t value)
CHECK(load_invalid_value, "an invalid value", uintptr_t value)
CHECK(invalid_builtin, "an argument of a builtin")
CHECK(nonnull_arg, "a null argument")
CHECK(pointer_overflow, "overflow of a pointer", uintptr_t base, uintptr_t result)
CHECK(alignment_assumption, "an assumed alignment", uintptr_t pointer, uintptr_t alignment, uintptr_t offset)

void __ubsan_handle_type_mismatch_v1(PointerData *data, uintptr_t pointer);
void __ubsan_handle_type_mismatch_v1(PointerData *data, uintptr_t pointer)
{
    bool is_aligned = !(pointer & (((uintptr_t)1 << data->log_alignment) - 1));
    report(&data->place, !pointer ? "a null pointer" : is_aligned ? "an access beyond an object" : "a misaligned pointer");
}

void __ubsan_handle_nonnull_return_v1(void *data, Place *place);
void __ubsan_handle_nonnull_return_v1(void *data, Place *place) { report(place, "a null result"); }

void __ubsan_handle_builtin_unreachable(Place *place);
void __ubsan_handle_builtin_unreachable(Place *place) { stop(place, "unreachable code"); }

void __ubsan_handle_missing_return(Place *place);
void __ubsan_handle_missing_return(Place *place) { stop(place, "a missing result"); }
