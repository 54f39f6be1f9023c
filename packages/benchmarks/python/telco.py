"""The telco computation: prices, taxes and sums of `decimal`."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

CALLS = 30_000


def run():
    cent, tax, far = Decimal("0.01"), Decimal("0.0675"), Decimal("0.0341")
    rates = (Decimal("0.0013"), Decimal("0.00894"))
    total = taxes = Decimal(0)
    for number in range(CALLS):
        duration = number * 7_919 % 10_007
        price = (Decimal(duration) * rates[duration & 1]).quantize(cent, ROUND_HALF_EVEN)
        owed = (price * tax).quantize(cent, ROUND_DOWN)
        if duration & 1:
            owed += (price * far).quantize(cent, ROUND_DOWN)
        total += price + owed
        taxes += owed
    return str(total), str(taxes)
