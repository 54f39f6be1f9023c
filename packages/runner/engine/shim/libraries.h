/* The entry point of the libraries, which the engine's unit calls while the image is built. */
#ifndef COLDFRAME_LIBRARIES_H
#define COLDFRAME_LIBRARIES_H
#include "quickjs.h"

/* Adds the libraries' functions to `native`. */
void cf_add_library_natives(JSContext *ctx, JSValue native);

#endif
