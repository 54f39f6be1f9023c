"""A tree of tasks of `asyncio`, with gathered results."""

import asyncio


async def node(depth):
    if depth == 0:
        await asyncio.sleep(0)
        return 1
    return 1 + sum(await asyncio.gather(*(node(depth - 1) for _ in range(5))))


def run():
    return asyncio.run(node(5))
