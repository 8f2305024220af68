"""Models of `trips` whose graphs stand deep in graphs, or that count, and what all are run with."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from nested_graphs import FLOAT, INT32, INT64

F32, I64 = numpy.float32, numpy.int64
RANDOM = numpy.random.default_rng(7)


def rows(count, columns=4):
    return RANDOM.standard_normal((count, columns)).astype(F32)


def number_feeds(*trips, sizes=(3, 1, 4), columns=4):
    return [{"x": rows(size, columns), "n": numpy.array(trip)} for trip, size in zip(trips, sizes)]


def ladder(g):
    """`elif` after `elif`, whose branches differ in shape: time to compile that doubled with each would not end."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def rung(b, number):
        def then(t):
            return [t.add("Concat", *[x] * (1 + number % 3), axis=0)]

        def other(t):
            return [rung(t, number + 1)] if number < 23 else [t.add("Neg", x)]
        return b.choose(b.add("Equal", n, b.number(number)), then, other)[0]
    return [rung(g, 0)], number_feeds(0, 11, 23, 30)


def row(g):
    """If after If, each of which makes of the last one's result one of two sizes: bounds of sizes that doubled with each would not
    end."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    v = x
    for number in range(40):
        v = g.choose(g.add("Less", n, g.number(number)), lambda t, v=v: [t.add("Concat", v, x, axis=0)],
                     lambda t, v=v: [t.add("Sin", v)])[0]
    return [v], number_feeds(20, 0, 50)


def nest(g):
    """Loops in loops, each of which makes what it carries longer, as long as its sum is small; the same holds for these."""
    x, n = g.add("Abs", g.input("x", FLOAT, [1, 4])), g.input("n", INT64)

    def body_of(depth):
        def body(b, i, v):
            made = b.loop(n, b.array(True), [v], body_of(depth - 1))[0] if depth else b.add("Add", v, b.float(0.5))
            longer = b.add("Concat", made, x, axis=0)
            return b.add("Less", b.add("ReduceSum", longer, keepdims=0), b.float(30)), [longer], []
        return body
    return g.loop(n, g.array(True), [x], body_of(19)), number_feeds(1, 2, sizes=(1, 1))


def counters(g):
    """Numbers to which each trip adds the same, up and down, of 32 and 64 bits, of rank 0 and 1, and one of the device, to which it
    adds twice: some decide whether there is another trip, are read in a graph within, behind the loop, or by nobody."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    short, seen = g.cast(g.add("Reshape", n, g.ints(1)), INT32), g.cast(g.add("ReduceMax", x, keepdims=0), INT64)

    def body(b, i, v, up, down, narrow, behind, found):
        up = b.add("Identity", b.add("Add", b.number(3), up))
        down = b.add("Sub", down, b.ints(2))
        taken = b.choose(b.add("Less", up, b.number(9)), lambda t: [t.add("Concat", v, x, axis=0)], lambda t: [t.add("Sin", v)])
        scaled = b.add("Mul", taken[0], b.add("Cos", b.cast(b.add("Add", b.cast(narrow, INT64), down), FLOAT)))
        going = b.add("Greater", b.add("Reshape", down, b.array(numpy.zeros(0, I64))), b.add("Sub", b.number(-9), n))
        narrow = b.add("Add", narrow, b.array([7], numpy.int32))
        found = b.add("Add", b.add("Add", found, b.number(1)), b.number(1))
        return going, [scaled, (up, INT64), (down, INT64), (narrow, INT32), (b.add("Sub", behind, b.number(5)), INT64),
                       (found, INT64)], [b.cast(up, FLOAT)]
    made = g.loop(g.number(40), g.array(True), [x, (g.number(-2), INT64), (g.add("Reshape", n, g.ints(1)), INT64), (short, INT32),
                                                 (n, INT64), (seen, INT64)], body)
    return [made[0], (made[4], INT64), (made[5], INT64), made[6]], number_feeds(3, 0, 9)
