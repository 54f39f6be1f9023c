/* The libraries' one entry: what the engine's unit calls while the image is built. */
#ifndef COLDFRAME_LIBRARIES_H
#define COLDFRAME_LIBRARIES_H
#include "quickjs.h"

/* Puts the libraries' functions onto `native`. */
void cf_add_library_natives(JSContext *ctx, JSValue native);

#endif
