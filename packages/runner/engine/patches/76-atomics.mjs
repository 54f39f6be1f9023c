export default {
  title: 'Atomics with one thread',
  why: `The engine leaves Atomics out under WASI for lack of threads. Node's primordials need the object, and Atomics.wait on a timeout is the usual
synchronous sleep. With one thread locks are nothing, nobody else can notify, and waiting is letting time pass while polling, so that the host
can run other guests and stop this one.`,
  edits: [
    {
      file: 'quickjs.c',
      find: '#if !defined(__TINYC__) && !defined(EMSCRIPTEN) && !defined(__wasi__) && !__STDC_NO_ATOMICS__ && !defined(__DJGPP)\n#include "quickjs-c-atomics.h"\n#define CONFIG_ATOMICS\n#endif\n',
      replace: `#include "quickjs-c-atomics.h"
#define CONFIG_ATOMICS

#if !JS_HAVE_THREADS
typedef int js_once_t, js_mutex_t, js_cond_t;
#define JS_ONCE_INIT 0
static inline void js_once(js_once_t *guard, void (*callback)(void)) { if (!*guard) { *guard = 1; callback(); } }
static inline void js_mutex_init(js_mutex_t *mutex) {}
static inline void js_mutex_lock(js_mutex_t *mutex) {}
static inline void js_mutex_unlock(js_mutex_t *mutex) {}
static inline void js_cond_init(js_cond_t *cond) {}
static inline void js_cond_destroy(js_cond_t *cond) {}
static inline void js_cond_signal(js_cond_t *cond) {}
static bool js_work_poll(void);
/* -1: the time is over, or the guest is being stopped */
static int js_cond_timedwait(js_cond_t *cond, js_mutex_t *mutex, uint64_t timeout)
{
    uint64_t start = js__hrtime_ns();
    while (!js_work_poll() && js__hrtime_ns() - start < timeout)
        ;
    return -1;
}
static void js_cond_wait(js_cond_t *cond, js_mutex_t *mutex)
{
    js_cond_timedwait(cond, mutex, UINT64_MAX);
}
#endif
`,
    },
  ],
};
