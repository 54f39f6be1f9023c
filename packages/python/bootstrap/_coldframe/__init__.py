"""The bootstrap of the Python guest: the code that runs programs in a process.

The package is part of the standard library's folder and of the memory image. Nothing here is an
interface for programs. The modules, in the order of a process:

    events          receives the events of docs/internals/guest-abi.md
    start           decodes the start block and runs the program in its mode
    renew           renews what a copy of the image must not share with other copies
    command_line    runs a command line of `python3`
    program         runs code, reports its error, and ends the program
    evaluations     runs the snippets of a resident runner
    cells           runs the cells of a notebook (a package)
    processes       the functions of `os` for children
    child_watcher   waits for the children of `asyncio`
    threads         runs threads one after the other
    spawns          adds `os.spawnv` and its relatives
    system          adds functions to `os` and `time`
    key_derivation  adds functions to `hashlib`
    paths           adds the folders of installed packages
    named_tuples    makes the classes of tuples of `pwd`, `grp` and `resource`
    warm            runs the code of a start in the image build
    preloaded       the modules of the standard library that the image has imported
"""
