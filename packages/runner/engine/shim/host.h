/* The sidecar's functions: exactly the imports of docs/internals/guest-abi.md. Errors are
   negative Linux error numbers. abi.h defines the constants for the arguments. */
#ifndef COLDFRAME_HOST_H
#define COLDFRAME_HOST_H
#include <stddef.h>
#include <stdint.h>

#include "abi.h"

#define CF_IMPORT(name) __attribute__((import_module("coldframe"), import_name(#name)))
#define CF_EXPORT(name) __attribute__((export_name(#name)))

CF_IMPORT(write) int32_t host_write(int32_t fd, const void *bytes, uint32_t len);
CF_IMPORT(wait_writable) int32_t host_wait_writable(int32_t fd);
CF_IMPORT(read) int32_t host_read(int32_t fd, void *bytes, uint32_t len);
CF_IMPORT(wait_readable) int32_t host_wait_readable(int32_t fd);
CF_IMPORT(sys) int64_t host_sys(int32_t number, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
CF_IMPORT(sys_wait) int64_t host_sys_wait(int32_t number, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
CF_IMPORT(poll) int32_t host_poll(void);
CF_IMPORT(clock) int64_t host_clock(int32_t id);
CF_IMPORT(random) void host_random(void *bytes, uint32_t len);
CF_IMPORT(mark) void host_mark(int32_t kind);
CF_IMPORT(fatal) _Noreturn void host_fatal(int32_t kind, const char *text, uint32_t len);
CF_IMPORT(build_file) int32_t host_build_file(const char *name, uint32_t name_len, void *buf, uint32_t cap);

enum { HOST_EAGAIN = 11 };

#endif
