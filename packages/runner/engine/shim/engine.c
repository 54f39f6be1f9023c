/* The engine and the parts of the shim that need its internals, as one translation unit: the
   patched quickjs.c first, then a file per topic. Engine and shim call static functions of each
   other (the patches call the cf_ functions of these files), and the compiler optimizes
   across both. */
#include "quickjs.c"

#undef malloc
#undef free
#undef realloc
#include <stdlib.h>

#include "alloc.h"
#include "codecs.h"
#include "host.h"
#include "coldframe.h"
#include "libraries.h"

#include "views.c"
#include "errors.c"
#include "stack.c"
#include "jobs.c"
#include "inspect.c"
#include "text.c"
#include "text-natives.c"
#include "bytes.c"
#include "io.c"
#include "sys.c"
#include "process.c"
#include "env.c"
#include "contexts.c"
#include "compile.c"
#include "modules.c"
#include "zone.c"
#include "log.c"
#include "node.c"
#include "expressions.c"
#include "expressions-run.c"
#include "messages-values.c"
#include "messages.c"
#include "messages-texts.c"
#include "loop.c"
#include "evaluations.c"
#include "natives.c"
#include "freeze.c"
#include "entry.c"
