/* A function for each check of the sanitized guest. sanitizer.test.mjs calls each function with
   arguments that have undefined behaviour, and with other arguments. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name))) int name

static const int table[4] = { 1, 2, 3, 4 };
static union { uint8_t byte; bool boolean; } flag;
static struct { char before; char bytes[15]; } aligned __attribute__((aligned(16)));

EXPORT(add)(int a, int b) { return a + b; }
EXPORT(sub)(int a, int b) { return a - b; }
EXPORT(mul)(int a, int b) { return a * b; }
EXPORT(negate)(int a, int b) { return -a; }
EXPORT(divide)(int a, int b) { return a / b; }
EXPORT(shift)(int a, int b) { return a << b; }
EXPORT(at)(int a, int b) { return table[a]; }
EXPORT(load)(int a, int b) { return *(int *)((a ? (uintptr_t)&aligned : 0) + b); }
EXPORT(truth)(int a, int b) { flag.byte = a; return flag.boolean; }
EXPORT(zeros)(int a, int b) { return __builtin_clz(a); }
EXPORT(array)(int a, int b) { volatile char bytes[a]; bytes[0] = 1; return bytes[0]; }
EXPORT(offset)(int a, int b) { return (uintptr_t)((char *)(uintptr_t)a + b); }
EXPORT(unreachable)(int a, int b) { if (a) __builtin_unreachable(); return 0; }
