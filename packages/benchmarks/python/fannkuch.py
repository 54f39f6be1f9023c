"""Flips of all permutations: slices of short lists."""

SIZE = 8


def run():
    first, counts = list(range(SIZE)), list(range(1, SIZE + 1))
    most, checksum, sign = 0, 0, 1
    while True:
        if first[0]:
            order, flips = first[:], 0
            while order[0]:
                head = order[0]
                order[: head + 1] = order[head::-1]
                flips += 1
            most = max(most, flips)
            checksum += sign * flips
        if sign > 0:
            first[0], first[1] = first[1], first[0]
            sign = -1
            continue
        first[1], first[2] = first[2], first[1]
        sign = 1
        for place in range(2, SIZE):
            counts[place] -= 1
            if counts[place]:
                break
            if place == SIZE - 1:
                return most, checksum
            counts[place] = place + 1
            first.insert(place + 1, first.pop(0))
