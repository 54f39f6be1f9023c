"""Random games on a board with groups and liberties: lists, sets and searches."""

import random

SIZE, GAMES = 9, 12


def neighbours(place):
    row, column = divmod(place, SIZE)
    if row:
        yield place - SIZE
    if row < SIZE - 1:
        yield place + SIZE
    if column:
        yield place - 1
    if column < SIZE - 1:
        yield place + 1


NEAR = [list(neighbours(place)) for place in range(SIZE * SIZE)]


def group_of(board, place):
    color, stones, liberties, waiting = board[place], {place}, set(), [place]
    while waiting:
        for near in NEAR[waiting.pop()]:
            if board[near] == 0:
                liberties.add(near)
            elif board[near] == color and near not in stones:
                stones.add(near)
                waiting.append(near)
    return stones, liberties


def play(choice):
    board, color, taken = [0] * (SIZE * SIZE), 1, 0
    for _ in range(150):
        empty = [place for place, stone in enumerate(board) if stone == 0]
        if not empty:
            break
        place = choice.choice(empty)
        board[place] = color
        for near in NEAR[place]:
            if board[near] == 3 - color:
                stones, liberties = group_of(board, near)
                if not liberties:
                    taken += len(stones)
                    for stone in stones:
                        board[stone] = 0
        if not group_of(board, place)[1]:
            board[place] = 0
        color = 3 - color
    return sum(board), taken


def run():
    choice = random.Random(7)
    return [play(choice) for _ in range(GAMES)][-3:]
