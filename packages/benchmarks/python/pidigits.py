"""Digits of pi: long integers."""

DIGITS = 700


def run():
    q, r, t, k, digit, odd = 1, 0, 1, 1, 3, 3
    digits = []
    while len(digits) < DIGITS:
        if 4 * q + r - t < digit * t:
            digits.append(digit)
            q, r, digit = 10 * q, 10 * (r - digit * t), (10 * (3 * q + r)) // t - 10 * digit
        else:
            following = (q * (7 * k) + 2 + r * odd) // (t * odd)
            q, r, t, k, digit, odd = q * k, (2 * q + r) * odd, t * odd, k + 1, following, odd + 2
    return "".join(map(str, digits[-30:]))
