"""Runs threads one after the other, because the process has one thread of control.

`Thread.start()` runs the thread to its end before it returns. A daemon thread is refused, because
its work usually has no end. An executor of threads runs each task when the task is submitted. A
wait that only another thread could end raises RuntimeError (patches/0005-locks.patch).
"""

import _thread
import socketserver
import sys
import threading
from asyncio import events
from concurrent.futures import thread as pool

_REFUSAL = (
    "a daemon thread cannot run beside the program, because the process has one thread: "
    "use asyncio for work that waits, or subprocess for work at the same time"
)


class _Handle:
    """The handle of a thread that runs or has run in its caller."""

    def __init__(self, ident):
        self.ident = ident
        self._is_done = False

    def is_done(self):
        return self._is_done

    def _set_done(self):
        self._is_done = True

    def join(self, timeout=None):
        if not self._is_done and (timeout is None or timeout < 0):
            raise RuntimeError("cannot join a thread that waits for this thread")


def _start(self):
    """Runs the thread. Returns when the thread has ended."""
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    if self.daemon:
        raise RuntimeError(_REFUSAL)
    ident = threading.get_ident()
    caller = threading._active.get(ident)
    loop = events._get_running_loop()
    self._handle = _Handle(ident)
    self._set_ident()
    self._started.set()
    threading._active[ident] = self
    events._set_running_loop(None)
    try:
        self.run()
    except BaseException:
        _report(self)
    finally:
        events._set_running_loop(loop)
        if caller is None:
            threading._active.pop(ident, None)
        else:
            threading._active[ident] = caller
        self._handle._set_done()


def _report(thread):
    """Reports the error that the thread did not catch, without the frame of `_start`."""
    error = sys.exception()
    error.__traceback__ = error.__traceback__.tb_next
    thread._invoke_excepthook(thread)


def _submit(self, fn, /, *args, **kwargs):
    with self._shutdown_lock, pool._global_shutdown_lock:
        if self._broken:
            raise pool.BrokenThreadPool(self._broken)
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if pool._shutdown:
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")
    future = pool._base.Future()
    loop = events._get_running_loop()
    events._set_running_loop(None)
    try:
        if self._initializer is not None and not hasattr(self, "_has_begun"):
            self._has_begun = True
            try:
                self._initializer(*self._initargs)
            except BaseException:
                pool._base.LOGGER.critical("Exception in initializer:", exc_info=True)
                self._broken = "A thread initializer failed, the thread pool is not usable anymore"
                raise pool.BrokenThreadPool(self._broken) from None
        pool._WorkItem(future, fn, args, kwargs).run()
    finally:
        events._set_running_loop(loop)
    return future


def _start_new_thread(function, args, kwargs=None, /):
    """Runs a function as a thread without an object."""
    thread = threading.Thread(target=function, args=args, kwargs=kwargs or {}, daemon=False)
    thread.start()
    return thread.ident


def install():
    """Replaces the functions that start threads."""
    _start.__name__ = _start.__qualname__ = "start"
    _submit.__name__ = _submit.__qualname__ = "submit"
    _start.__doc__ = threading.Thread.start.__doc__
    _submit.__doc__ = pool.ThreadPoolExecutor.submit.__doc__
    threading.Thread.start = _start
    pool.ThreadPoolExecutor.submit = _submit
    # A server with a thread for each request serves one request after the other.
    socketserver.ThreadingMixIn.process_request = socketserver.ThreadingMixIn.process_request_thread
    _thread.start_new_thread = _thread.start_new = _start_new_thread


install()
