"""Models of `trips`: what each is written as, and what it is run with."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from nested_graphs import BOOL, FLOAT, FLOAT16, INT32, INT64, Graph, pair
from trip_graphs import RANDOM, counters, ladder, nest, number_feeds, row, rows

F32, I64 = numpy.float32, numpy.int64
W = RANDOM.uniform(-1, 1, (4, 4)).astype(F32)
FILTER = RANDOM.uniform(-1, 1, (2, 2, 3, 3)).astype(F32)


# --- If

def same_shape(g, x, _):
    return lambda b: [b.add("Relu", x)], lambda b: [b.add("Neg", b.add("Exp", x))]


def products(g, x, _):
    """Each with what is computed in the same kernel."""
    def then(b):
        return [b.add("Relu", b.add("Add", b.add("MatMul", x, b.array(W)), b.array(W[0])))]

    def other(b):
        return [b.add("Tanh", b.add("Gemm", x, b.array(W[:, ::-1]), b.array(W[1])))]
    return then, other


def convolutions(g, x, _):
    image = g.add("Reshape", x, g.ints(-1, 2, 1, 2))

    def branch(name):
        def make(b):
            y = b.add("Conv", image, b.array(FILTER if name == "Relu" else FILTER[::-1]), pads=[1, 1, 1, 1])
            return [b.add(name, b.add("Add", y, image))]
        return make
    return branch("Relu"), branch("Sigmoid")


def shapes_differ(g, x, _):
    return lambda b: [b.add("Concat", x, b.add("Neg", x), axis=0)], lambda b: [b.add("Exp", x)]


def sizes_checked(g, x, n):
    """A branch that is wrong wherever it is not taken."""
    first = g.add("Slice", x, g.ints(0), g.add("Reshape", n, g.ints(1)), g.ints(0))
    return lambda b: [b.add("Add", x, first)], lambda b: [b.add("Mul", b.add("Slice", x, b.ints(0), b.ints(1)), x)]


def host_values(g, x, n):
    def then(b):
        sizes = b.add("Concat", b.add("Reshape", b.add("Mul", n, b.number(2)), b.ints(1)), b.ints(4), axis=0)
        return [b.add("Expand", b.add("ReduceMax", x, b.ints(0), keepdims=1), sizes)]

    def other(b):
        at = b.add("Range", b.number(0), n, b.number(1))
        column = b.add("Unsqueeze", b.cast(at, FLOAT), b.ints(1))
        return [b.add("Mul", column, b.add("ReduceSum", x, b.ints(0), keepdims=1))]
    return then, other


def passed_on(g, x, _):
    """Captured values, constants and one value twice."""
    h = g.add("Exp", x)
    w = g.array(W[:1])

    def then(b):
        y = b.add("Sin", x)
        return [y, y, b.add("Identity", h), b.add("Identity", w)]
    return then, lambda b: [b.add("Identity", h), b.add("Identity", x), b.array(W[1:2]), b.add("Neg", w)]


def of_types(g, x, n):
    def branch(name):
        def make(b):
            y = b.add(name, x)
            return [(b.add("Greater", y, b.float(0)), BOOL), (b.cast(b.add("Mul", y, b.float(8)), INT64), INT64),
                    (b.cast(y, FLOAT16), FLOAT16), (b.add("Add", n, b.number(len(name))), INT64),
                    b.add("Concat", y, y, axis=0)]
        return make
    return branch("Sin"), branch("Relu")


def number_of_both(g, x, n):
    """Numbers that decide sizes behind the If."""
    def then(b):
        return [(b.add("Reshape", n, b.ints(1)), INT64), b.add("Concat", x, x, axis=0)]
    return then, lambda b: [(b.ints(1), INT64), b.add("Neg", x)]


def use_number(g, results):
    k, y = results
    return [g.add("Slice", y, g.ints(0), k), (g.add("Add", k, k), INT64), g.add("MatMul", y, g.array(W))]


def loops_in_both(g, x, n):
    def branch(name):
        def body(b, i, v):
            y = b.add(name, b.add("Add", b.add("MatMul", v, b.array(W)), b.cast(i, FLOAT)))
            return "", [y], [b.add("ReduceSum", y, b.ints(0), keepdims=0)]
        return lambda b: b.loop(n, "", [x], body)
    return branch("Tanh"), branch("Sin")


def one_of_three(g, x, n):
    """Results of which some are not read."""
    return (lambda b: [b.add("Sin", x), b.add("Concat", x, x, axis=0), b.add("Exp", x)],
            lambda b: [b.add("Cos", x), b.add("Exp", x), b.add("Neg", x)])


def pieces(g, x, n):
    """Concat of what the branch makes, written in place."""
    return (lambda b: [b.add("Concat", b.add("Relu", x), b.add("MatMul", x, b.array(W)), b.array(W), axis=0)],
            lambda b: [b.add("Concat", b.add("Exp", x), b.add("Exp", x), axis=0)])


# What branches make, what is made of it, and whether Where can do it, too.
BRANCHES = {
    "same-shape": (same_shape, None, True), "products": (products, None, True),
    "convolutions": (convolutions, None, True), "shapes": (shapes_differ, None, False),
    "sizes-checked": (sizes_checked, None, False), "host-values": (host_values, None, False),
    "passed-on": (passed_on, None, False), "types": (of_types, None, False),
    "number": (number_of_both, use_number, False), "loops": (loops_in_both, None, True),
    "unread": (one_of_three, lambda g, r: [r[1]], False),
    "pieces": (pieces, None, False),
}


def chosen(branches, use, form, truth):
    """The model of one form."""
    g = Graph()
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    c = g.input("c", BOOL, [1] if form == "listed" else []) if form in ("input", "listed", "where", "direct") else ""
    if form == "constant":
        c = g.array(truth)
    elif form == "device":
        c = g.add("Greater", g.add("ReduceSum", g.input("d", FLOAT, [3]), keepdims=0), g.float(0))
    elif form == "read":  # an input that the device reads, too
        c = g.add("Not", g.input("d", BOOL))
    elif form == "compared":
        c = g.add("Greater", g.input("d", INT64), g.number(0))
    then, other = branches(g, x, n)
    if form == "where":
        results = [g.add("Where", c, a, b) for a, b in zip(then(g), other(g))]
    else:
        results = g.choose(c, then, other)
    results = [(name, kind) for name, kind in zip(results, kinds_of(branches))]
    results = use(g, [name for name, _ in results]) if use else results
    return (g.direct_model if form == "direct" else g.model)(*results)


def kinds_of(branches):
    known = {of_types: [BOOL, INT64, FLOAT16, INT64, FLOAT]}
    return known.get(branches, [FLOAT] * 4)


def condition_of(form, truth):
    return {"constant": {}, "device": {"d": F32([1, 2, 3] if truth else [1, -2, -3])},
            "read": {"d": numpy.array(not truth)}, "compared": {"d": numpy.array(int(truth))},
            "listed": {"c": numpy.array([truth])}}.get(form, {"c": numpy.array(truth)})


def choices():
    draws = [(truth, rows(size), number) for truth, size, number in (
        (True, 2, 2), (False, 5, 4), (True, 5, 1), (False, 0, 3), (True, 0, 0), (True, 2, 2))]
    for number, (name, (branches, use, has_where)) in enumerate(BRANCHES.items()):
        forms = {}
        turns = [("listed", "direct", "read", "compared")[(number + i) % 4] for i in range(2)]
        for form in ("constant", "input", "device", *turns, *["where"] * has_where):
            models = {truth: chosen(branches, use, form, truth) for truth in (True, False)}
            usable = [draw for draw in draws if name != "sizes-checked" or not draw[0] or draw[2] in (1, len(draw[1]))]
            forms[form] = [(models[truth if form == "constant" else True],
                            {"x": x, "n": numpy.array(n), **condition_of(form, truth)}) for truth, x, n in usable]
        yield f"if-{name}", forms


# --- Loop and Scan: bodies take a graph, the entry of the trip and the states, and give states and parts

def product_body(b, e, v):
    y = b.add("Tanh", b.add("Add", b.add("MatMul", v, b.array(W)), e))
    return [y], [b.add("ReduceSum", y, b.ints(1), keepdims=0)]


def swap_body(b, e, u, v):
    return [v, b.add("Sin", b.add("Add", u, e))], [u]


def exchange_body(b, e, u, v):
    """Nothing is computed of what is carried."""
    return [v, u], [b.add("Mul", u, e)]


def twice_body(b, e, u, v):
    y = b.add("Sin", b.add("Add", b.add("Mul", u, v), e))
    return [y, y], [y, y]


def kept_body(b, e, v):
    """A state that stays what it was, and a captured value and a constant as parts."""
    return [v], [e, b.array(W[0]), b.add("Add", v, e)]


def capture_body(x):
    def body(b, e, v):
        return [b.add("Max", b.add("Sub", v, x), e)], [b.add("Identity", x), b.add("Exp", x)]
    return body


def two_states_body(b, e, u, v):
    """The new value of one is made of the old one of the other, and the old of its own is read after."""
    new = b.add("Sin", b.add("Add", u, e))
    return [new, b.add("Add", b.add("Neg", u), v)], [b.add("Sub", u, new)]


def convolution_body(b, e, v):
    image = b.add("Reshape", b.add("Add", v, e), b.ints(-1, 2, 1, 2))
    y = b.add("Relu", b.add("Conv", image, b.array(FILTER), b.array(W[0, :2]), pads=[1, 1, 1, 1]))
    return [b.add("Tanh", b.add("Reshape", y, b.ints(-1, 4)))], [y]


def pieces_body(b, e, v):
    row = b.add("Unsqueeze", e, b.ints(0))
    whole = b.add("Concat", b.add("Sin", v), b.add("Exp", row), b.add("MatMul", v, b.array(W)), axis=0)
    largest = b.add("ReduceMax", whole, b.ints(0), keepdims=1)
    wide = b.add("Concat", v, b.add("Exp", v), b.add("MatMul", v, b.array(W)), axis=1)
    return [b.add("Add", b.add("Sin", v), largest)], [wide]


def type_body(b, e, v):
    y = b.add("Sin", b.add("Add", v, e))
    return [y], [(b.add("Greater", y, b.float(0)), BOOL), (b.cast(b.add("Mul", y, b.float(9)), INT64), INT64),
                 (b.cast(y, FLOAT16), FLOAT16), (b.cast(b.add("Mul", e, b.float(9)), INT32), INT32)]


def softmax_body(b, e, v):
    y = b.add("Softmax", b.add("Add", v, e), axis=-1)
    return [b.add("LayerNormalization", y, b.array(W[0]), axis=-1)], [b.add("ReduceMax", v, b.ints(1), keepdims=1)]


def choice_body(b, e, v):
    """An If whose condition is carried."""
    c = b.add("Greater", b.add("ReduceSum", v, keepdims=0), b.float(0))
    made = b.choose(c, lambda t: [t.add("Sub", v, t.add("Abs", e))], lambda t: [t.add("Add", t.add("Exp", v), e)])
    return made, [made[0], (c, BOOL)]


def shapes_choice_body(b, e, v):
    c = b.add("Greater", b.add("ReduceSum", v, keepdims=0), b.float(0))
    made = b.choose(c, lambda t: [t.add("Concat", v, v, axis=0)], lambda t: [t.add("Exp", v)])
    return [b.add("Sub", v, b.add("Add", b.add("ReduceSum", made[0], b.ints(0), keepdims=1), e))], [v]


def inner_loop_body(b, e, v):
    def inner(g, _, u):
        y = g.add("Tanh", g.add("MatMul", g.add("Add", u, e), g.array(W)))
        return "", [y], [y]
    made = b.loop(b.number(20), "", [v], inner)
    return [made[0]], [b.add("ReduceSum", made[1], b.ints(0), keepdims=0)]


def inner_scan_body(b, e, v):
    def inner(g, s, row):
        y = g.add("Add", g.add("Sin", s), g.add("Mul", row, e))
        return [(y, FLOAT, [4])], [(g.add("Neg", y), FLOAT, [4])]
    made = b.scan([e], [v], inner)
    return [b.add("Tanh", made[1])], [made[0]]


BODIES = {
    "product": (product_body, 1), "swap": (swap_body, 2), "exchange": (exchange_body, 2), "twice": (twice_body, 2),
    "kept": (kept_body, 1), "capture": ("x", 1), "two": (two_states_body, 2), "convolution": (convolution_body, 1),
    "pieces": (pieces_body, 1), "types": (type_body, 1), "softmax": (softmax_body, 1), "choice": (choice_body, 1),
    "shapes-choice": (shapes_choice_body, 1), "inner-loop": (inner_loop_body, 1), "inner-scan": (inner_scan_body, 1),
}
TRIPS = 5
FIXED = ("written", "unrolled", "counted", "scan")
ENDED = ("conditional", "device", "ended", "unbounded", "endless")  # by the condition that a trip gives
FORMS = (*FIXED, *ENDED, "given", "size", "scan-open", "direct")


def looped(name, form):
    body, states = BODIES[name]
    g = Graph()
    x = g.input("x", FLOAT, ["N", 4])
    e = g.input("e", FLOAT, [TRIPS if form in FIXED else "T", 4])
    held = [x, g.add("Neg", x)][:states] if form != "direct" or states > 1 else [x]
    body = capture_body(g.add("Cos", x)) if body == "x" else body

    def trip(b, i, *carried):
        after, parts = body(b, b.add("Gather", e, i, axis=0), *carried)
        return "", after, parts
    if form == "written":
        collected = []
        for number in range(TRIPS):
            held, parts = body(g, g.add("Gather", e, g.number(number), axis=0), *held)
            collected.append(parts)
        results = [*held, *((g.add("Concat", *(g.add("Unsqueeze", pair(part)[0], g.ints(0)) for part in parts), axis=0),
                             pair(parts[0])[1]) for parts in zip(*collected))]
        return g.model(*results)
    kinds = []

    def noted(b, *given):
        after, parts = body(b, *given)
        kinds[:] = [FLOAT] * states + [pair(part)[1] for part in parts]
        return after, parts
    if form.startswith("scan"):
        made = g.scan(held, [e], lambda b, *given: noted(b, given[-1], *given[:-1]))
    else:
        count, first = "", ""
        if form == "unrolled":
            count = g.number(TRIPS)
        elif form in ("counted", "direct", "given-size"):
            count = g.input("count", INT64)
        elif form == "given":
            count, first = g.input("count", INT64, [1]), g.input("first", BOOL)
        elif form == "size":
            count = g.size(e, 0)
        elif form in ENDED:
            first = g.array(True)
            most = g.input("most", INT64 if form == "conditional" else FLOAT)
            if form == "ended":
                count = g.input("count", INT64)
            elif form != "unbounded":
                count = g.number(2**63 - 1 if form == "endless" else 99)

        def whole(b, i, *carried):
            after, parts = noted(b, b.add("Gather", e, i, axis=0), *carried)
            if form in ENDED:
                number = b.add("Add", i, b.number(1))
                number = number if form == "conditional" else b.cast(number, FLOAT)
                return b.add("Less", number, most), after, parts
            return "", after, parts
        made = g.loop(count, first, held, whole)
    results = list(zip(made, kinds))
    return (g.direct_model if form == "direct" else g.model)(*results)


def loop_feed(form, x, e):
    feed = {"x": x, "e": e}
    if form in ("counted", "direct", "given", "ended"):
        feed["count"] = numpy.array([TRIPS] if form == "given" else 99 if form == "ended" else TRIPS)
    if form == "given":
        feed["first"] = numpy.array(True)
    if form in ENDED:
        feed["most"] = numpy.array(TRIPS, I64 if form == "conditional" else F32)
    return feed


def loops():
    """Each body in some of the forms; all of them for the first."""
    draws = [(rows(size), rows(TRIPS)) for size in (3, 1, 0, 3)]
    others = [form for form in FORMS if form not in ("written", "counted", "device")]
    for number, name in enumerate(BODIES):
        turns = [others[(number * 3 + i) % len(others)] for i in range(3)] if number else others
        # ONNX Runtime cannot scan an axis of size 0.
        usable = draws if name != "inner-scan" else [draw for draw in draws if len(draw[0])]
        forms = {}
        for form in ("written", "counted", "device", *turns):
            model = looped(name, form)
            forms[form] = [(model, loop_feed(form, x, e)) for x, e in usable]
        yield f"loop-{name}", forms


def numbers_of_trips():
    """Trips that differ from run to run, and none."""
    draws = [(rows(size), rows(trips)) for size, trips in ((3, 5), (3, 0), (2, 1), (0, 2), (2, 20), (3, 5))]
    for name in ("product", "two", "types", "choice", "inner-loop"):
        forms = {}
        for form in ("size", "given-size", "given", "device", "scan-open"):
            model = looped(name, form)
            # The device says after a trip whether there is another one.
            forms[form] = [(model, {**loop_feed(form, x, e), **trips_of(form, len(e))})
                           if len(e) or form != "device" else None for x, e in draws]
        yield f"trips-{name}", forms


def trips_of(form, trips):
    """None by the count, but for `given` by the first condition."""
    return {"given-size": {"count": numpy.array(trips)}, "given": {"count": numpy.array([trips or 7]),
                                                                   "first": numpy.array(trips > 0)},
            **{ended: {"most": F32(trips)} for ended in ("device", "unbounded", "endless")},
            "ended": {"count": numpy.array(trips), "most": F32(2**20)}}.get(form, {})


def parts_in_chunks():
    """Around the 32 trips of a first chunk and the 64 of two, by a count and by a condition."""
    draws = [(rows(2), rows(trips)) for trips in (33, 1, 32, 64, 31, 65, 0, 200)]
    for name in ("product", "types", "capture", "inner-loop"):
        forms = {}
        for form in ("size", "ended", "unbounded", "endless"):
            model = looped(name, form)
            forms[form] = [(model, {**loop_feed(form, x, e), **trips_of(form, len(e))})
                           if len(e) or form in ("size", "ended") else None for x, e in draws]
        yield f"chunks-{name}", forms


def loops_in_chunks(g):
    """Each trip of a Loop that nothing bounds makes another number of trips of one inside, whose parts it adds up."""
    x, n, most = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64), g.float(3)

    def inner(b, i, v):
        y = b.add("Add", b.add("Sin", v), b.cast(i, FLOAT))
        # ONNX Runtime counts on in the memory of a number that is collected as it is.
        return b.add("Less", b.add("ReduceMean", y, keepdims=0), most), [y], [y, (b.add("Abs", i), INT64)]

    def outer(b, i, v):
        last, parts, numbers = b.loop("", b.array(True), [v], inner)
        after = b.add("Div", b.add("ReduceSum", parts, b.ints(0), keepdims=0), b.float(8))
        count = b.cast(b.add("ReduceMax", numbers, b.ints(0), keepdims=0), FLOAT)
        return b.add("Less", i, n), [b.add("Add", after, count)], [b.add("ReduceMax", last, b.ints(0), keepdims=0)]
    return g.loop("", g.array(True), [x], outer), number_feeds(3, 40, 70)


# --- Loops by their number of the trip, and by numbers that are carried: each gives results of a graph, and feeds

def sliced_by_trip(g):
    """A row of x in each trip, and a slice whose end is the trip's number."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, v):
        at = b.add("Reshape", i, b.ints(1))
        row = b.add("Slice", x, at, b.add("Add", at, b.ints(1)), b.ints(0))
        sums = b.add("ReduceSum", b.add("Slice", x, b.ints(0), at, b.ints(0)), b.ints(0), keepdims=1)
        after = b.add("Add", b.add("Sin", v), b.add("ReduceSum", row, b.ints(0), keepdims=1))
        return "", [after], [(sums, FLOAT, [1, 4])]
    return g.loop(n, "", [g.array(W[:1])], body), number_feeds(3, 1, 4, 0, sizes=(3, 1, 4, 2))


def numbers_in_bodies(g):
    """Range, Expand and Reshape by the trip and by numbers from outside."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, v):
        shape = b.add("Shape", x)
        cells = b.add("ReduceProd", shape, keepdims=1)
        at = b.cast(b.add("Range", b.number(0), b.add("Add", i, n), b.number(1)), FLOAT)
        spread = b.add("Expand", b.add("ReduceSum", at, keepdims=1), shape)
        flat = b.add("Reshape", v, cells)
        back = b.add("Reshape", b.add("Sin", flat), shape)
        return "", [b.add("Add", back, spread)], [b.add("ReduceMax", flat, b.ints(0), keepdims=0)]
    return g.loop(n, "", [x], body), number_feeds(3, 1, 0)


def carried_counter(g):
    """A number that is carried decides slices and when the loop ends."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, k, v):
        more = b.add("Add", b.add("Mul", k, b.number(2)), b.number(1))
        part = b.add("Slice", x, b.ints(0), b.add("Reshape", k, b.ints(1)), b.ints(0))
        after = b.add("Add", v, b.add("ReduceSum", part, b.ints(0), keepdims=1))
        return b.add("Less", more, n), [(more, INT64), after], [(more, INT64)]
    made = g.loop("", g.array(True), [(g.number(0), INT64), g.array(W[:1])], body)
    return [(made[0], INT64), made[1]], number_feeds(9, 1, 3, sizes=(9, 2, 0))


def collected_counter(g):
    """Both are collected, too."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, k, v):
        more = b.add("Add", b.add("Mul", k, b.number(2)), b.number(1))
        return b.add("Less", more, n), [(more, INT64), b.add("Sin", v)], [(more, INT64), v]
    made = g.loop(g.number(7), g.array(True), [(g.number(0), INT64), x], body)
    return [(made[0], INT64), made[1], (made[2], INT64), made[3]], number_feeds(9, 1, 500)


def counter_of_device(g):
    """What decides is computed by the device from what is carried."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, k, v):
        above = b.add("ReduceSum", b.cast(b.add("Greater", v, b.float(0.2)), INT64), keepdims=0)
        more = b.add("Add", k, above)
        part = b.add("Slice", x, b.ints(0), b.add("Reshape", above, b.ints(1)), b.ints(0))
        after = b.add("Sin", b.add("Add", v, b.add("ReduceSum", part, b.ints(0), keepdims=1)))
        return b.add("Less", more, n), [(more, INT64), after], [(above, INT64)]
    made = g.loop(g.number(6), g.array(True), [(g.number(0), INT64), x], body)
    return [(made[0], INT64), made[1], (made[2], INT64)], number_feeds(9, 1, 30)


def one_after_another(g):
    """The first one's number of trips is the second one's count; both add to what both read."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    h = g.add("Exp", x)

    def first(b, i, k, v):
        return b.add("Less", b.add("ReduceSum", v, keepdims=0), b.float(50)), \
            [(b.add("Add", k, b.number(1)), INT64), b.add("Add", v, b.add("Abs", h))], []

    def second(b, i, v):
        return "", [b.add("Tanh", b.add("MatMul", v, b.array(W)))], [b.add("Sub", v, h)]
    k, v = g.loop(g.number(12), g.array(True), [(g.number(0), INT64), x], first)
    third = g.loop(k, "", [v], second)
    fourth = g.loop(n, "", [third[0]], second)
    return [(k, INT64), *third, *fourth, g.add("Mul", v, g.add("Add", h, third[0]))], number_feeds(2, 0, 20)


def deep(g):
    """Loops three deep, whose counts are of the trip, an input and the device; each reads what all around it have."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def innermost(b, i, w):
        return b.add("Less", b.add("ReduceMax", w, keepdims=0), b.float(3)), \
            [b.add("Add", b.add("Abs", w), b.float(0.7))], []

    def inner(b, j, u):
        made = b.loop(b.number(4), b.array(True), [b.add("Sub", u, x)], innermost)
        part = b.add("ReduceSum", made[0], b.ints(0), keepdims=0)
        return "", [b.add("Tanh", b.add("MatMul", made[0], b.array(W)))], [part]

    def outer(b, i, v):
        made = b.loop(b.add("Add", i, b.number(1)), "", [v], inner)
        return "", [b.add("Add", made[0], v)], [b.add("ReduceSum", made[1], b.ints(0), keepdims=0)]
    return g.loop(n, "", [x], outer), number_feeds(3, 1, 2, 0, sizes=(3, 1, 0, 2))


def lists_of_both(g):
    """Two lists that grow or are chosen as the device says: one of the graph around, one that an inner loop carries."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    flat = g.add("Reshape", x, g.ints(-1))
    above = g.add("Reshape", g.add("NonZero", g.add("Greater", flat, g.float(-5))), g.ints(-1))
    chosen_ones = g.add("Gather", flat, above)

    def outer(b, i, v):
        def inner(c, j, u):
            entry = c.add("Reshape", c.add("Gather", chosen_ones, i, axis=0), c.ints(1))
            longer = c.add("Concat", u, entry, axis=0)
            sizes = c.add("Cast", c.add("Shape", longer), to=FLOAT)
            going = c.add("Less", c.add("Add", c.add("ReduceMax", longer, keepdims=0), c.add("ReduceSum", sizes, keepdims=0)),
                          c.float(6))
            return going, [longer], []
        return "", b.loop(b.number(20), b.array(True), [v], inner), []
    return g.loop(n, "", [g.array(numpy.zeros(0, F32))], outer), number_feeds(2, 1, 3)


def many_lists(g, more):
    """Tables of the compiler's grow while it goes through as many as these."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    held = [g.add("Mul", x, g.float(number + 1)) for number in range(20)]
    around = [g.add("Exp", x) for _ in range(more)]

    def body(b, i, *carried):
        return "", [b.add("Concat", v, start, axis=0) for v, start in zip(carried, held)], []
    return [g.add("ReduceSum", v, g.ints(0), keepdims=0) for v in g.loop(n, "", held, body)] + around, \
        number_feeds(2, 0, 3)


def even_lists(g):
    return many_lists(g, 0)


def odd_lists(g):
    return many_lists(g, 1)


def deep_choices(g):
    """If in Loop in If in Loop."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def inner(b, j, u):
        odd = b.add("Equal", b.add("Mod", j, b.number(2)), b.number(1))
        made = b.choose(odd, lambda t: [t.add("Concat", u, x, axis=0)], lambda t: [t.add("Sin", u)])
        return "", [b.add("Sub", u, b.add("ReduceMax", made[0], b.ints(0), keepdims=1))], []

    def outer(b, i, v):
        c = b.add("Greater", b.add("ReduceSum", v, keepdims=0), b.float(0))
        made = b.choose(c, lambda t: t.loop(n, "", [v], inner), lambda t: t.loop(i, "", [t.add("Neg", v)], inner))
        return "", made, [v]
    return g.loop(n, "", [x], outer), number_feeds(4, 1, 3)


def unread(g):
    """Results that nobody reads: carried, collected, and all of a loop."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, u, v):
        return "", [b.add("Add", u, v), b.add("Cos", v)], [b.add("Mul", u, v), b.add("Exp", u)]
    first = g.loop(n, "", [x, g.add("Neg", x)], body)
    g.loop(n, "", [x, x], body)
    last = g.loop(n, "", [x, x], body)
    return [first[0], last[3]], number_feeds(3, 1, 20)


def only_parts(g):
    """Nothing is carried."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i):
        number = b.cast(i, FLOAT)
        return "", [], [b.add("Mul", x, number), b.add("Identity", x), number, (b.add("Mul", i, n), INT64)]
    made = g.loop(n, "", [], body)
    return [*made[:3], (made[3], INT64)], number_feeds(3, 1, 18)


def no_trip(g):
    """It is known that there is none, and not how large the parts would be."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    made = g.loop(g.number(0), "", [x], lambda b, i, v: ("", [b.add("Sin", v)], [b.add("Concat", v, v, axis=1)]))
    # ONNX Runtime takes 0 for sizes of parts that no trip has made.
    parts = g.add("Gather", g.add("Shape", made[1]), g.ints(0))
    return [made[0], (g.add("Add", parts, n), INT64)], number_feeds(3, 1, 0)


def collected_sizes(g):
    """Parts of sizes that are 0, and whose batch is open; a Concat of what two loops have collected."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, v):
        return "", [b.add("Sin", v)], [b.add("Concat", v, b.add("Neg", v), axis=1)]
    first, second = (g.loop(n, "", [start], body) for start in (x, g.add("Exp", x)))
    joined = g.add("Concat", first[1], second[1], axis=0)
    return [joined, g.add("MatMul", first[1], g.array(numpy.concatenate([W, -W])))], \
        number_feeds(3, 2, 17, sizes=(2, 0, 1))


def flags(g):
    """Values of bool and of FP16 that are carried, and a condition that is."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, c, h):
        y = b.add("Mul", h, b.array([0.5], numpy.float16))
        many = b.add("Greater", b.add("ReduceSum", b.cast(y, FLOAT), keepdims=0), b.float(0.4))
        both = b.add("And", c, b.add("Greater", b.cast(y, FLOAT), b.float(0.1)))
        return b.add("And", many, b.add("Less", i, n)), [(both, BOOL), (y, FLOAT16)], [(b.add("Not", c), BOOL)]
    start = g.cast(g.add("Abs", x), FLOAT16)
    made = g.loop(g.number(10), g.array(True), [(g.add("Greater", x, g.float(-1)), BOOL), (start, FLOAT16)], body)
    return [(made[0], BOOL), (made[1], FLOAT16), (made[2], BOOL)], number_feeds(9, 1, 2)


def scan_backwards(g):
    """Two entries along other axes, backwards, with parts along an axis."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    t = g.add("Transpose", x)

    def body(b, s, e, f):
        y = b.add("Sin", b.add("Add", s, b.add("Mul", e, f)))
        return [(y, FLOAT, [4])], [(b.add("Sub", y, e), FLOAT, [4]), (b.add("Add", y, b.cast(n, FLOAT)), FLOAT, [4])]
    return g.scan([g.array(W[0])], [x, t], body, scan_input_axes=[0, 1], scan_input_directions=[0, 1],
                  scan_output_axes=[1, 0], scan_output_directions=[1, 0]), number_feeds(3, 1, 2)


def number_to_sizes(g):
    """A number that a loop makes decides a size behind it, and one that an If makes decides a count."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)

    def body(b, i, k):
        return b.add("Less", k, n), [(b.add("Add", b.add("Mul", k, b.number(2)), b.number(1)), INT64)], []
    k, = g.loop(g.number(10), g.array(True), [(g.number(0), INT64)], body)
    y = g.add("Expand", x, g.add("Concat", g.add("Reshape", k, g.ints(1)), g.add("Shape", x), axis=0))
    m, = g.choose(g.add("Greater", k, g.number(4)), lambda b: [(b.add("Sub", k, n), INT64)],
                  lambda b: [(b.add("Identity", n), INT64)])
    last = g.loop(m, "", [y], lambda b, i, v: ("", [b.add("Sin", v)], [b.add("ReduceSum", v, keepdims=0)]))
    return [y, (m, INT64), *last], number_feeds(5, 0, 2)


def if_then_loop(g):
    """A loop over what an If has made, of a size that only it knows."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    h, = g.choose(g.add("Greater", g.add("ReduceSum", x, keepdims=0), g.float(0)),
                  lambda b: [b.add("Concat", x, x, axis=0)], lambda b: [b.add("Exp", x)])

    def body(b, i, v):
        y = b.add("Tanh", b.add("MatMul", v, b.array(W)))
        return "", [b.add("Add", y, h)], [b.add("Softmax", y, axis=0)]
    made = g.loop(n, "", [h], body)
    return [*made, g.add("Mul", made[0], h)], number_feeds(3, 1, 20, 2, sizes=(3, 1, 4, 3))


def rnn(g):
    """A cell by hand over an open sequence, and one of the operator in each trip."""
    x, n = g.input("x", FLOAT, ["N", 4]), g.input("n", INT64)
    wx, wh, bias = (g.array(array) for array in (W, W.T.copy(), W[2]))

    def body(b, i, h, c):
        e = b.add("Gather", x, i, axis=0)
        gate = b.add("Sigmoid", b.add("Add", b.add("Gemm", h, wh, bias, transB=1), b.add("MatMul", e, wx)))
        cell = b.add("Add", b.add("Mul", gate, c), b.add("Mul", b.add("Sub", b.float(1), gate), b.add("Tanh", e)))
        return "", [b.add("Mul", gate, b.add("Tanh", cell)), cell], [h]
    made = g.loop(g.size(x, 0), "", [g.array(W[:1] * 0), g.array(W[:1])], body)
    return [*made, g.cast(n, FLOAT)], number_feeds(1, 1, 1, sizes=(6, 1, 19))


SINGLE = (sliced_by_trip, numbers_in_bodies, carried_counter, counters, collected_counter, counter_of_device, one_after_another,
          deep, deep_choices, ladder, nest, row, lists_of_both, even_lists, odd_lists, unread, only_parts, no_trip, collected_sizes, flags,
          scan_backwards, number_to_sizes, if_then_loop, rnn, loops_in_chunks)


def singles():
    for make in SINGLE:
        g = Graph()
        results, feeds = make(g)
        model = g.model(*results)
        used = {put.name for put in model.graph.input}
        given = [{name: array for name, array in feed.items() if name in used} for feed in feeds]
        yield make.__name__.replace("_", "-"), {"as-is": [(model, feed) for feed in given]}


def groups():
    yield from choices()
    yield from loops()
    yield from numbers_of_trips()
    yield from parts_in_chunks()
    yield from singles()


def states():
    """(name, model, feed of all steps, feeds of some each)"""
    g = Graph()
    s, e = g.input("s", FLOAT, ["N", 4]), g.input("e", FLOAT, ["T", 4])

    def body(b, i, v):
        return "", [b.add("Tanh", b.add("Add", b.add("MatMul", v, b.array(W)), b.add("Gather", e, i, axis=0)))], [v]
    model = g.model(*g.loop(g.size(e, 0), "", [s], body))
    start, entries = rows(3), rows(21)
    yield "steps-loop", model, {"s": start, "e": entries}, \
        [{"s": start, "e": part} for part in (entries[:8], entries[8:])]
    g = Graph()
    s, e = g.input("s", FLOAT, ["N", 4]), g.input("e", FLOAT, ["T", 4])

    def scanned(b, v, entry):
        y = b.add("Tanh", b.add("Add", b.add("MatMul", v, b.array(W)), entry))
        return [y], [b.add("Softmax", y)]
    model = g.model(*g.scan([s], [e], scanned))
    yield "steps-scan", model, {"s": start, "e": entries}, \
        [{"s": start, "e": part} for part in (entries[:1], entries[1:4], entries[4:])]


def networks():
    """(name, model, feed) for other options than those of a level."""
    x, e = rows(3), rows(TRIPS)
    for body, form in (("product", "device"), ("convolution", "counted"), ("choice", "size")):
        yield f"{body}-{form}", looped(body, form), loop_feed(form, x, e)
    for name in ("shapes", "loops"):
        branches, use, _ = BRANCHES[name]
        yield f"if-{name}", chosen(branches, use, "device", True), \
            {"x": x, "n": numpy.array(2), **condition_of("device", True)}


def sizes_in_turn():
    """(name, model, feeds) of one context."""
    sizes = ((3, 5), (2, 20), (0, 0), (1, 1), (0, 7), (4, 0), (3, 5), (2, 20), (3, 5))
    for body in ("product", "two", "inner-loop"):
        yield f"context-{body}", looped(body, "given-size"), \
            [{**loop_feed("given-size", x, e), **trips_of("given-size", len(e))} for x, e in
             ((rows(n), rows(trips)) for n, trips in sizes)]
    for name in ("shapes", "number"):
        branches, use, _ = BRANCHES[name]
        yield f"context-if-{name}", chosen(branches, use, "device", True), \
            [{"x": rows(n), "n": numpy.array(1), **condition_of("device", truth)} for n, truth in
             ((3, True), (2, False), (0, True), (0, False), (3, True), (2, False), (3, False))]
