/* Generated from packages/sidecar/crates/abi by `pnpm generate`. Do not edit.
   The numbers and blocks of docs/internals/guest-abi.md. */
#ifndef COLDFRAME_ABI_H
#define COLDFRAME_ABI_H
#include <stdint.h>

#define CF_ABI_VERSION 7

enum {
    CF_EVENT_START = 1,
    CF_EVENT_TIMER = 2,
    CF_EVENT_COMPLETE = 3,
    CF_EVENT_EVAL = 4,
    CF_EVENT_RESTORE = 5,
    CF_EVENT_ABANDON = 6,
};
enum { CF_EVAL_RETURNS = 1, CF_EVAL_UNTIL_VALUE = 2, CF_EVAL_CELL = 4, CF_EVAL_TYPE_SCRIPT = 8 };
enum { CF_MODE_EXEC = 0, CF_MODE_RUN = 1, CF_MODE_RESIDENT = 2, CF_MODE_FILE = 3 };
enum { CF_STATUS_IDLE = 0, CF_STATUS_EXITED = 1 };
enum { CF_REASON_NORMAL = 0, CF_REASON_UNCAUGHT = 1, CF_REASON_MEMORY = 2, CF_REASON_INTERRUPTED = 3 };
enum { CF_EXIT_BROKEN_HANDLER = 7, CF_EXIT_UNSETTLED = 13, CF_EXIT_MEMORY = 134, CF_EXIT_INTERRUPTED = 137 };
enum { CF_CLOCK_WALL = 0, CF_CLOCK_MONOTONIC = 1 };
enum { CF_MARK_USER_CODE = 1 };
enum { CF_FATAL_MEMORY = 1, CF_FATAL_INVARIANT = 2 };
enum { CF_SYS_ZONE_OFFSET = 0x500 };

typedef struct CfInfo {
    uint32_t abi_version;
    uint32_t state_ptr;
    uint32_t inbox_ptr;
    uint32_t inbox_len;
    uint32_t frozen_end;
    uint32_t stack_size;
} CfInfo;
_Static_assert(sizeof(CfInfo) == 24, "the layout of CfInfo is the ABI");

typedef struct CfState {
    uint32_t status;
    int32_t exit_code;
    double timer_at;
    uint32_t exit_reason;
    uint32_t value_ptr;
    uint32_t value_len;
    uint32_t eval_done;
    int32_t eval_exit_code;
    uint32_t eval_reason;
    uint32_t keep_alive;
    uint32_t reserved;
} CfState;
_Static_assert(sizeof(CfState) == 48, "the layout of CfState is the ABI");

typedef struct CfEvent {
    uint32_t kind;
    uint32_t id;
    int32_t result;
    uint32_t len;
} CfEvent;
_Static_assert(sizeof(CfEvent) == 16, "the layout of CfEvent is the ABI");

#endif
