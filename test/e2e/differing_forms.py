"""Forms of value_forms.py that take away most of a number: moments, distances, positions, what a function is above its
value at 0, and shifts in front of products."""
# SPDX-License-Identifier: Apache-2.0
import itertools

import numpy

from forms import DEPTH, ROWS, Form, held, random

IMAGE = (1, 2, 6, 6)
BOX = 3


def mean_of(f, kind, x):
    """A mean over the last axis of x, or over windows of an image."""
    if kind == "ReduceSum":
        return f.add("Mul", f.add("ReduceSum", x, f.axes(-1)), f.number(1 / DEPTH))
    if kind == "MatMul":
        return f.add("MatMul", x, f.array(numpy.full((DEPTH, 1), 1 / DEPTH, numpy.float32)))
    if kind == "AveragePool":
        return f.add("AveragePool", x, kernel_shape=[BOX, BOX])
    if kind == "Conv":
        box = numpy.full((IMAGE[1], 1, BOX, BOX), 1 / BOX**2, numpy.float32)
        return f.add("Conv", x, f.array(box), group=IMAGE[1])
    return f.add("ReduceMean", x, f.axes(-1))


def difference_of(f, how, a, b):
    if how == "Neg":
        return f.add("Add", f.add("Neg", b), a)
    return f.add("Add", a, f.add("Mul", b, f.number(-1))) if how == "Mul" else f.add("Sub", a, b)


def second_moment(kind, square, how):
    """The mean of squares, less the square of the mean; of two values, a covariance."""
    def build():
        f = Form()
        shape = IMAGE if kind in ("AveragePool", "Conv") else (ROWS, DEPTH)
        x = f.product(f.input("x", held(20 + random(25, *shape))), shape[-1])
        if square == "two":
            y = f.product(f.input("x2", held(20 + random(26, *shape))), shape[-1])
            mean, other = mean_of(f, kind, x), mean_of(f, kind, y)
            return f, difference_of(f, how, mean_of(f, kind, f.add("Mul", x, y)), f.add("Mul", mean, other))
        squares = f.add("Pow", x, f.number(2)) if square == "Pow" else f.add("Mul", x, x)
        mean = mean_of(f, kind, x)
        return f, difference_of(f, how, mean_of(f, kind, squares), f.add("Mul", mean, mean))
    return build


def spread_of_positions(by):
    """The variance of where a softmax looks."""
    def build():
        f = Form()
        p = f.add("Softmax", f.product(f.input("x", 4 * random(27, ROWS, 64)), 64), axis=-1)
        at = numpy.arange(64, dtype=numpy.float32)
        if by == "MatMul":
            first, second = (f.add("MatMul", p, f.array((at**power)[:, None])) for power in (1, 2))
        else:
            first, second = (f.add("ReduceSum", f.add("Mul", p, f.array(at**power)), f.axes(-1)) for power in (1, 2))
        return f, f.add("Sub", second, f.add("Pow", first, f.number(2)))
    return build


def distances(by, constant):
    """|a|^2 - 2ab + |b|^2, of points that are not around 0."""
    def build():
        f = Form()
        points = held(10 + random(28, DEPTH, 4))
        a = f.product(f.input("a", held(10 + random(29, ROWS, 4))), 4)
        b = f.array(points) if constant else f.product(f.input("b", points), 4)
        turned = f.array(points.T.copy()) if constant else f.add("Transpose", b, perm=[1, 0])
        if by == "ReduceSumSquare":
            lengths = f.add("ReduceSumSquare", a, f.axes(-1))
        else:
            lengths = f.add("ReduceSum", f.add("Mul", a, a), f.axes(-1))
        others = (f.array((points**2).sum(1)[None]) if constant else
                  f.add("Transpose", f.add("ReduceSum", f.add("Mul", b, b), f.axes(-1)), perm=[1, 0]))
        if by == "Gemm":
            return f, f.add("Add", f.add("Gemm", a, turned, lengths, alpha=-2.0), others)
        products = f.add("Mul", f.add("MatMul", a, turned), f.number(2))
        return f, f.add("Add", f.add("Sub", lengths, products), others)
    return build


def gram_of_rest(by):
    """The mean of products, less the product of means: a covariance as a matrix."""
    def build():
        f = Form()
        x = f.product(f.input("x", held(20 + random(38, ROWS, 64))), 64)
        count = f.number(64)
        mean = f.add("ReduceMean", x, f.axes(-1))
        if by == "Mul":
            products = f.add("Mul", mean, f.add("Transpose", mean, perm=[1, 0]))
        else:
            products = f.add("MatMul", mean, f.add("Transpose", mean, perm=[1, 0]))
        return f, f.add("Sub", f.add("Div", f.add("MatMul", x, f.add("Transpose", x, perm=[1, 0])), count), products)
    return build


def less_an_average(of):
    """What stands out of its neighbourhood; the difference of two neighbourhoods."""
    def build():
        f = Form()
        x = f.product(f.input("x", held(20 + random(39, 1, 1, 8, 8))), 8)

        def blur(size):
            box = numpy.full((1, 1, size, size), 1 / size**2, numpy.float32)
            return f.add("Conv", x, f.array(box), pads=[size // 2] * 4)
        return f, f.add("Sub", x if of == "source" else blur(3), blur(5))
    return build


def on_a_grid(between, how):
    """What is added to positions, and is left when they are taken away again."""
    def build():
        f = Form()
        grid = f.array(numpy.arange(ROWS * DEPTH, dtype=numpy.float32).reshape(ROWS, DEPTH) * 40)
        x = f.add("Add", grid, f.product(f.input("x", random(30, ROWS, DEPTH)), DEPTH))
        if between == "reshape":
            x, grid = (f.add("Reshape", value, f.axes(DEPTH, ROWS)) for value in (x, grid))
        elif between == "concat":
            x, grid = (f.add("Concat", value, value, axis=0) for value in (x, grid))
        return f, difference_of(f, how, x, grid)
    return build


def transformed(times):
    """Angles that a few small matrices make."""
    def build():
        f = Form()
        x = f.input("x", 50 + random(31, ROWS, 3))
        for i in range(times):
            x = f.add("MatMul", x, f.array(random(32 + i, 3, 3)))
        return f, f.add("Sin", x)
    return build


def from_zero(kind):
    """What a function of small numbers is above its value at 0."""
    def build():
        f = Form()
        x = f.product(f.input("x", random(34, ROWS, DEPTH) / 16), DEPTH)
        one = f.number(1)
        if kind == "charbonnier":
            y = f.add("Sub", f.add("Sqrt", f.add("Add", f.add("Mul", x, x), one)), one)
        elif kind == "lorentz":
            y = f.add("Sub", f.add("Reciprocal", f.add("Sqrt", f.add("Sub", one, f.add("Mul", x, x)))), one)
        elif kind == "sigmoid":
            y = f.add("Sub", f.add("Sigmoid", x), f.number(0.5))
        elif kind == "softplus":
            y = f.add("Sub", f.add("Softplus", x), f.number(numpy.log(2)))
        elif kind == "reciprocal":
            y = f.add("Sub", f.add("Div", one, f.add("Add", one, x)), one)
        else:
            y = f.add("Add", f.add("Cosh", x), f.number(-1))
        return f, y
    return build


def in_front_of(product, kind):
    """A product reads what a shift leaves of a number."""
    def build():
        f = Form()
        x = f.input("x", 100 + numpy.abs(random(35, 1, DEPTH, ROWS, ROWS)) / 4)
        if kind == "scaled":
            y = f.add("Div", f.add("Sub", x, f.number(100)), f.number(100))
        elif kind == "log":
            y = f.add("Sub", f.add("Log", x), f.number(numpy.log(100)))
        elif kind == "ratio":
            y = f.add("Sub", f.add("Div", x, f.number(100)), f.number(1))
        elif kind == "seconds":
            y = f.add("Div", f.add("Sub", f.add("Mul", x, f.number(1e7)), f.number(1e9)), f.number(1e7))
        else:
            y = f.add("Sub", f.add("Div", x, f.add("ReduceMean", x, f.axes(2, 3))), f.number(1))
        if product == "Conv":
            return f, f.add("Conv", y, f.array(random(36, 4, DEPTH, 2, 2)), f.array(random(37, 4)))
        y = f.add("Reshape", y, f.axes(-1, DEPTH))
        if product == "Gemm":
            return f, f.add("Gemm", y, f.array(random(36, DEPTH, 4)), f.array(random(37, 4)))
        return f, f.add("MatMul", y, f.array(random(36, DEPTH, 4)))
    return build


def in_common(by):
    """The overlap of boxes and anchors as a share of both."""
    def build():
        f = Form()
        low = numpy.float32([[0, 0], [200, 100], [610, 640], [1200, 900]])
        anchors = numpy.concatenate([low, low + 48], axis=1).astype(numpy.float32)
        if by == "input":
            boxes = f.input("x", numpy.float32(anchors + 3 * random(40, ROWS, 4)))
        else:
            moves = f.product(f.input("x", 3 * random(40, ROWS, 4)), 4)
            boxes = f.add("Add", moves, f.array(anchors))

        def side(of, first, axis):
            x = f.add("Slice", of, f.axes(first), f.axes(first + 2), f.axes(1))
            return f.add("Unsqueeze", x, f.axes(axis))

        def area(of, axis):
            return f.add("ReduceProd", f.add("Sub", side(of, 2, axis), side(of, 0, axis)), f.axes(2), keepdims=0)

        anchors = f.array(anchors)
        inner = f.add("Sub", f.add("Min", side(boxes, 2, 1), side(anchors, 2, 0)),
                      f.add("Max", side(boxes, 0, 1), side(anchors, 0, 0)))
        common = f.add("ReduceProd", f.add("Relu", inner), f.axes(2), keepdims=0)
        both = f.add("Sub", f.add("Add", area(boxes, 1), area(anchors, 0)), common)
        return f, f.add("Div", common, both)
    return build


def solved(steps):
    """What many small steps have changed of a value."""
    def build():
        f = Form()
        x = f.product(f.input("x", held(100 + random(41, ROWS, DEPTH))), DEPTH)
        y = x
        for _ in range(steps):
            y = f.add("Add", y, f.add("Mul", f.add("Tanh", y), f.number(0.001)))
        return f, f.add("Sub", y, x)
    return build


def filtered(kind):
    """Differences of neighbours, of an input that is far from 0."""
    def build():
        f = Form()
        if kind == "laplacian":
            x = f.input("x", 300 + random(42, 1, 1, 6, 6))
            edges = numpy.float32([[[[0, 1, 0], [1, -4, 1], [0, 1, 0]]]])
            return f, f.add("Conv", x, f.array(edges))
        x = f.input("x", 1000 + random(43, ROWS, DEPTH))
        if kind == "centre":
            matrix = numpy.eye(DEPTH) - 1 / DEPTH
        else:
            matrix = numpy.eye(DEPTH, DEPTH - 1, -1) - numpy.eye(DEPTH, DEPTH - 1)
        if kind == "gemm":
            return f, f.add("Gemm", x, f.array(matrix.T.astype(numpy.float32)), transB=1)
        return f, f.add("MatMul", x, f.array(matrix.astype(numpy.float32)))
    return build


def spectrum(square):
    """The logarithm of bands of a spectrum, some of which are quiet."""
    def build():
        f = Form()
        at = numpy.arange(64, dtype=numpy.float32)
        x = f.input("x", numpy.float32([1000 * numpy.sin(at * 0.7 * (row + 1)) for row in range(ROWS)]))
        angles = numpy.outer(at, numpy.arange(32)) * 2 * numpy.pi / 64
        window = numpy.hanning(64)[:, None]
        parts = [f.add("MatMul", x, f.array((part(angles) * window).astype(numpy.float32)))
                 for part in (numpy.cos, numpy.sin)]
        squares = [f.add("Pow", part, f.number(2)) if square == "Pow" else f.add("Mul", part, part) for part in parts]
        bands = numpy.kron(numpy.eye(8), numpy.full((4, 1), 0.25)).astype(numpy.float32)
        power = f.add("MatMul", f.add("Add", *squares), f.array(bands))
        return f, f.add("Log", f.add("Max", power, f.number(1e-6)))
    return build


def growing(kind):
    """Products that read what may be beyond FP16."""
    def build():
        f = Form()
        # The largest numbers are 1e5, which BF16 has as well.
        x = f.product(f.input("x", held(numpy.linspace(-4, 11.5, ROWS * DEPTH).reshape(ROWS, DEPTH))), DEPTH)
        y = f.add("Exp", x) if kind == "exp" else f.add("Mul", *2 * [f.add("Mul", x, f.number(30))])
        return f, f.add("MatMul", y, f.array(held(numpy.abs(random(44, DEPTH, DEPTH)))))
    return build


def differences():
    for by in ("input", "moves"):
        yield f"common-{by}", in_common(by)
    for steps in (3, 12, 40):
        yield f"solved-{steps}", solved(steps)
    for kind in ("laplacian", "centre", "neighbours", "gemm"):
        yield f"filtered-{kind}", filtered(kind)
    for square in ("Mul", "Pow"):
        yield f"spectrum-{square}", spectrum(square)
    for kind in ("exp", "square"):
        yield f"growing-{kind}", growing(kind)
    for kind in ("ReduceMean", "ReduceSum", "MatMul", "AveragePool", "Conv"):
        for square, how in (("Mul", "Sub"), ("Pow", "Neg"), ("two", "Mul")):
            yield f"moment-{kind}-{square}", second_moment(kind, square, how)
    for by in ("ReduceSum", "MatMul"):
        yield f"spread-{by}", spread_of_positions(by)
    for by, constant in itertools.product(("ReduceSum", "ReduceSumSquare", "Gemm"), (False, True)):
        yield f"distance-{by}{'-constant' if constant else ''}", distances(by, constant)
    for by in ("Mul", "MatMul"):
        yield f"gram-rest-{by}", gram_of_rest(by)
    for of in ("source", "average"):
        yield f"average-{of}", less_an_average(of)
    for between, how in (("nothing", "Sub"), ("reshape", "Neg"), ("concat", "Mul")):
        yield f"grid-{between}", on_a_grid(between, how)
    for times in (1, 2, 3):
        yield f"transform-{times}", transformed(times)
    for kind in ("charbonnier", "lorentz", "sigmoid", "softplus", "reciprocal", "cosh"):
        yield f"zero-{kind}", from_zero(kind)
    for product, kind in itertools.product(("Conv", "Gemm", "MatMul"), ("scaled", "log", "ratio", "seconds", "mean")):
        yield f"front-{product}-{kind}", in_front_of(product, kind)
