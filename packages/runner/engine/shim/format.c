/* vsnprintf for the formats that the engine uses: integers, strings, characters and pointers.
   The version of libc needs files, floating point and bulk-memory instructions. dtoa.c formats
   the numbers of JavaScript. An unknown conversion is written unchanged. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct Out {
    char *to;
    size_t capacity, length;
} Out;

typedef struct Spec {
    bool left, zero, plus, space, alternative;
    int width, precision; /* -1 if not given */
    int longs;            /* 2 means 64 bits */
} Spec;

static void put(Out *out, char c)
{
    if (out->length + 1 < out->capacity)
        out->to[out->length] = c;
    out->length++;
}

static void put_many(Out *out, char c, int count)
{
    while (count-- > 0)
        put(out, c);
}

/* Writes prefix, zeros and digits, padded with spaces to the width. */
static void put_padded(Out *out, const Spec *s, const char *prefix, int zeros, const char *text, int len)
{
    int used = (int)strlen(prefix) + zeros + len;
    if (!s->left)
        put_many(out, ' ', s->width - used);
    for (; *prefix; prefix++)
        put(out, *prefix);
    put_many(out, '0', zeros);
    for (int i = 0; i < len; i++)
        put(out, text[i]);
    if (s->left)
        put_many(out, ' ', s->width - used);
}

static void put_number(Out *out, const Spec *s, uint64_t value, bool negative, unsigned base, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    const char *prefix = negative ? "-" : s->plus ? "+" : s->space ? " " : "";
    char buf[24];
    int at = sizeof(buf), len, zeros = 0;

    if (s->alternative && base == 16 && value)
        prefix = upper ? "0X" : "0x";
    for (uint64_t rest = value; rest; rest /= base)
        buf[--at] = digits[rest % base];
    if (!value && s->precision != 0)
        buf[--at] = '0';
    len = sizeof(buf) - at;
    if (s->precision >= 0)
        zeros = s->precision - len;
    else if (s->zero && !s->left)
        zeros = s->width - len - (int)strlen(prefix);
    put_padded(out, s, prefix, zeros > 0 ? zeros : 0, buf + at, len);
}

static int read_number(const char **p, va_list *args)
{
    int value = 0;
    if (**p == '*') {
        (*p)++;
        return va_arg(*args, int);
    }
    while (**p >= '0' && **p <= '9')
        value = value * 10 + *(*p)++ - '0';
    return value;
}

static const char *read_spec(const char *p, Spec *s, va_list *args)
{
    *s = (Spec){ .precision = -1 };
    for (;; p++) {
        if (*p == '-')
            s->left = true;
        else if (*p == '0')
            s->zero = true;
        else if (*p == '+')
            s->plus = true;
        else if (*p == ' ')
            s->space = true;
        else if (*p == '#')
            s->alternative = true;
        else
            break;
    }
    s->width = read_number(&p, args);
    if (s->width < 0) {
        s->left = true;
        s->width = -s->width;
    }
    if (*p == '.') {
        p++;
        s->precision = read_number(&p, args);
    }
    for (;; p++) {
        if (*p == 'l')
            s->longs++;
        else if (*p == 'j')
            s->longs = 2;
        else if (*p != 'h' && *p != 'z' && *p != 't')
            break;
    }
    return p;
}

static void put_conversion(Out *out, char conversion, const Spec *s, va_list *args)
{
    bool wide = s->longs >= 2;
    switch (conversion) {
    case 'd':
    case 'i': {
        int64_t value = wide ? va_arg(*args, int64_t) : va_arg(*args, int32_t);
        put_number(out, s, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10, false);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        uint64_t value = wide ? va_arg(*args, uint64_t) : va_arg(*args, uint32_t);
        put_number(out, s, value, false, conversion == 'u' ? 10 : conversion == 'o' ? 8 : 16, conversion == 'X');
        break;
    }
    case 'p': {
        Spec pointer = *s;
        pointer.alternative = true;
        put_number(out, &pointer, (uintptr_t)va_arg(*args, void *), false, 16, false);
        break;
    }
    case 'c': {
        char c = (char)va_arg(*args, int);
        put_padded(out, s, "", 0, &c, 1);
        break;
    }
    case 's': {
        const char *text = va_arg(*args, const char *);
        if (!text)
            text = "(null)";
        size_t len = s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text);
        put_padded(out, s, "", 0, text, (int)len);
        break;
    }
    default:
        put(out, '%');
        if (conversion != '%')
            put(out, conversion);
    }
}

int vsnprintf(char *restrict to, size_t capacity, const char *restrict format, va_list given)
{
    Out out = { to, capacity, 0 };
    va_list args;

    va_copy(args, given);
    for (const char *p = format; *p; p++) {
        Spec spec;
        if (*p != '%') {
            put(&out, *p);
            continue;
        }
        p = read_spec(p + 1, &spec, &args);
        if (!*p)
            break;
        put_conversion(&out, *p, &spec, &args);
    }
    va_end(args);
    if (capacity)
        to[out.length < capacity ? out.length : capacity - 1] = 0;
    return (int)out.length;
}

int snprintf(char *restrict to, size_t capacity, const char *restrict format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(to, capacity, format, args);
    va_end(args);
    return n;
}
