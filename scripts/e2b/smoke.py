# Calls of the newest Python packages against a server. Fails at the first wrong result.

from e2b import PtySize, Sandbox
from e2b_code_interpreter import Sandbox as Interpreter

with Sandbox.create() as sandbox:
    assert sandbox.commands.run('echo "$((6 * 7))"').stdout == "42\n"
    sandbox.files.write("folder/file.txt", "text")
    assert sandbox.files.read("folder/file.txt") == "text"
    assert [entry.name for entry in sandbox.files.list("folder")] == ["file.txt"]
    watch = sandbox.files.watch_dir("folder")
    sandbox.files.write("folder/new.txt", "new")
    assert any(event.name == "new.txt" for event in watch.get_new_events())
    watch.stop()
    command = sandbox.commands.run("cat", background=True, stdin=True)
    sandbox.commands.send_stdin(command.pid, "line\n")
    assert sandbox.commands.kill(command.pid)
    screen = []
    terminal = sandbox.pty.create(size=PtySize(rows=24, cols=80))
    sandbox.pty.send_stdin(terminal.pid, b"echo $((40 + 2)); exit\r")
    terminal.wait(on_pty=screen.append)
    assert b"42" in b"".join(screen)
    sandbox.pause()
    assert Sandbox.connect(sandbox.sandbox_id).files.read("folder/file.txt") == "text"

with Interpreter.create() as interpreter:
    assert interpreter.run_code("6 * 7", language="javascript").text == "42"
    assert interpreter.run_code("echo out", language="bash").logs.stdout == ["out\n"]
