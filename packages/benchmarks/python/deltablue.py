"""Constraints in one direction over variables: a plan by strengths, with classes and lists."""

CHAIN, CHANGES = 300, 60


class Variable:
    def __init__(self, value):
        self.value, self.constraints, self.determined_by, self.strength = value, [], None, 6


class Constraint:
    def __init__(self, strength, *variables):
        self.strength, self.variables = strength, variables
        for variable in variables:
            variable.constraints.append(self)

    def output(self):
        return self.variables[-1]


class Equal(Constraint):
    def execute(self):
        self.variables[1].value = self.variables[0].value


class Scale(Constraint):
    def execute(self):
        source, factor, offset, target = self.variables
        target.value = (source.value * factor.value + offset.value) % 1_000_003


class Planner:
    def plan(self, source):
        plan, waiting, seen = [], [source], set()
        while waiting:
            variable = waiting.pop()
            for constraint in variable.constraints:
                output = constraint.output()
                if output is variable or constraint in seen:
                    continue
                seen.add(constraint)
                if output.determined_by is None or output.determined_by.strength >= constraint.strength:
                    output.determined_by, output.strength = constraint, constraint.strength
                    plan.append(constraint)
                    waiting.append(output)
        return plan


def run():
    first = last = Variable(1)
    factor, offset = Variable(3), Variable(7)
    for place in range(CHAIN):
        following = Variable(0)
        if place % 3:
            Equal(place % 5, last, following)
        else:
            Scale(place % 4, last, factor, offset, following)
        last = following
    total = 0
    for change in range(CHANGES):
        first.value = change
        for constraint in Planner().plan(first):
            constraint.execute()
        total = (total * 31 + last.value) % 1_000_003
    return total
