"""Coroutines that wait for coroutines, without an event loop."""


async def fibonacci(n):
    return n if n < 2 else await fibonacci(n - 1) + await fibonacci(n - 2)


def run():
    coroutine = fibonacci(22)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
