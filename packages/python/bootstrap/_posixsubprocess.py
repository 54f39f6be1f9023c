"""Starts children for `subprocess`: the function `fork_exec` over the kernel's call `spawn`.

The kernel starts a child in one step. So a failure is raised by `fork_exec` itself, and nothing is
written to the pipe for errors. A function for the time before the start cannot run.
"""

import errno
import os

from _coldframe import processes


def fork_exec(
    args, executables, close_fds, pass_fds, cwd, env, p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite,
    errpipe_read, errpipe_write, restore_signals, start_new_session, process_group, gid, groups, uid, umask,
    preexec_fn, allow_vfork=True, /,
):  # fmt: skip
    """Starts the first of the executables that exists. Returns the pid of the child."""
    if preexec_fn is not None:
        raise RuntimeError("preexec_fn is not available: a child starts with its own program")
    descriptors = [given if given >= 0 else number for number, given in enumerate((p2cread, c2pwrite, errwrite))]
    for passed in pass_fds:
        if passed != errpipe_write and passed > 2:
            descriptors += [-1] * (passed + 1 - len(descriptors))
            descriptors[passed] = passed
    directory = os.fsencode(cwd) if cwd is not None else None
    if directory is not None:
        _check_directory(directory, cwd)
    failure = None
    earlier = os.umask(umask) if umask >= 0 else None
    try:
        for executable in executables:
            try:
                return processes.spawn(
                    executable,
                    [os.fsencode(argument) for argument in args],
                    env,
                    directory,
                    descriptors,
                    new_session=start_new_session,
                    group=process_group if process_group >= 0 else None,
                    user=uid,
                    user_group=gid,
                )
            except OSError as error:
                if failure is None or error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    failure = error
    finally:
        if earlier is not None:
            os.umask(earlier)
    raise OSError(failure.errno, os.strerror(failure.errno), os.fsdecode(args[0] if len(executables) > 1 else executables[0]))


def _check_directory(directory, name):
    try:
        if not os.path.isdir(directory):
            os.listdir(directory)
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno), name) from None
