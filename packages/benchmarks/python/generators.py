"""A walk through a tree with generators that delegate to generators."""


class Tree:
    def __init__(self, values):
        middle = len(values) // 2
        self.value = values[middle]
        self.left = Tree(values[:middle]) if middle else None
        self.right = Tree(values[middle + 1 :]) if middle + 1 < len(values) else None

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def run():
    tree = Tree(list(range(20_000)))
    return sum(value * place for _ in range(3) for place, value in enumerate(tree))
