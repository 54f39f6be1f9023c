/* C libraries that do heavy work inside the guest, as natives. This unit sees the engine only through quickjs.h, so that a change here
   does not compile the engine again. Each library has a file of its own; this one lists their tables. */
#include "libraries.h"

void cf_add_library_natives(JSContext *ctx, JSValue native)
{
    (void)ctx;
    (void)native;
}
