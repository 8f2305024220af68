"""The forms that graph optimisation acts on, drawn at random: each function takes a Graph of
fuzz_graphs.py, picks values it can use and adds several nodes that belong together. What cannot be
drawn raises Redraw."""
# SPDX-License-Identifier: Apache-2.0
import numpy

from fuzz_graphs import (BOOL, EQUAL, F32, I64, NUMBERS, ONE_OR, Redraw, all_meet, broadcast, relative,
                         root, same)
from fuzz_operators import window_dims, windows_along

FORMS = []  # functions; those that are drawn more often come more often
UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "HardSwish", "Softsign", "LeakyRelu", "Elu",
         "Gelu")
INVERSE = {"Mul": "Div", "Div": "Mul", "Add": "Sub", "Sub": "Add"}
LOWEST = float(numpy.finfo(F32).min)


def form(weight=1):
    """Registers a function, `weight` times."""
    def add(function):
        FORMS.extend([function] * weight)
        return function
    return add


# --- what forms are made of

def last(g):
    return g.values[-1]


def pick(g, rank=None, accepts=lambda value: True):
    """A value of floats; `accepts` says what else it must be."""
    return g.pick(lambda v: v.dtype is F32 and v.array.size and (rank is None or v.rank in rank)
                  and accepts(v))


def scalar(g, number):
    return g.constant(numpy.array(number, F32))


def op(g, name, *inputs, dims=None, **attributes):
    """One node that keeps the sizes of its first input unless `dims` says others; its result."""
    g.add(name, list(inputs), inputs[0].dims if dims is None else dims, exact=False, **attributes)
    return last(g)


def activation(g, x):
    kind = g.integer(0, 5)
    if kind == 0:  # swish, as exporters write it
        return op(g, "Mul", x, op(g, "Sigmoid", x))
    if kind == 1:  # GELU in primitives
        inner = op(g, "Add", op(g, "Erf", op(g, "Mul", x, scalar(g, 0.7071))), scalar(g, 1))
        return op(g, "Mul", op(g, "Mul", x, scalar(g, 0.5)), inner)
    if kind == 2:
        return op(g, "Clip", x, scalar(g, 0), scalar(g, 6))
    return op(g, g.choose(UNARY), x)


def combine(g, x, y):
    x, y = (y, x) if g.chance(0.5) else (x, y)
    return op(g, g.choose(["Add", "Add", "Sub", "Mul", "Max", "Min"]), x, y,
              dims=broadcast(x.dims, y.dims))


def narrow(g, x):
    """Through f16 and back."""
    g.add("Cast", [x], x.dims, exact=False, to=10)
    half = last(g)
    if g.chance(0.5):
        g.add(g.choose(["Relu", "Neg", "Abs"]), [half], x.dims, exact=False)
        half = last(g)
    g.add("Cast", [half], x.dims, exact=False, to=1)
    return last(g)


def epilogue(g, x):
    """What follows a product or a reduction: none to four steps in any order."""
    for _ in range(g.integer(0, 4)):
        kind = g.integer(0, 5)
        if kind == 0:
            x = op(g, "Mul", x, scalar(g, g.choose([0.5, 0.25, -1.5])))
        elif kind == 1:
            x = narrow(g, x)
        elif kind in (2, 3):
            y = g.partner(x)
            if broadcast(x.dims, y.dims) == x.dims:
                x = combine(g, x, y)
        else:
            x = activation(g, x)
    return x


def factor(g, x):
    """A constant that broadcasts to `x`: one number, one a channel, or any."""
    number = g.choose(NUMBERS)
    kind = g.integer(0, 4)
    shape = []
    if kind == 1:
        shape = [1] * g.integer(0, x.rank)
    elif kind == 2 and x.rank >= 2 and isinstance(x.dims[1], int):
        shape = [x.dims[1], *[1] * (x.rank - 2)]
    elif kind == 3 and x.rank and isinstance(x.dims[-1], int):
        shape = [x.dims[-1]]
    elif kind == 4:
        return g.weight(F32, [dim if isinstance(dim, int) and g.chance(0.5) else 1
                              for dim in x.dims])
    return g.constant(numpy.full(shape, number, F32))


def scaled(g, x):
    """One step of a chain, perhaps followed by its inverse; the constant on either side."""
    by = factor(g, x)
    name = g.choose(list(INVERSE))
    swapped = name != "Div" and g.chance(0.3)
    x = op(g, name, *((by, x) if swapped else (x, by)), dims=broadcast(x.dims, by.dims))
    if g.chance(0.4) and not (swapped and name == "Sub"):
        x = op(g, INVERSE[name], x, by, dims=x.dims)
    return x


# --- pointwise: chains, diamonds, trees, broadcasts

@form()
def chain(g):
    x = pick(g)
    for _ in range(g.integer(2, 6)):
        x = activation(g, x)


@form(2)
def diamonds(g):
    x = pick(g)
    for _ in range(g.integer(1, 4)):
        left = activation(g, x)
        right = activation(g, x) if g.chance(0.7) else x
        x = combine(g, left, right)
        if g.chance(0.5):
            x = op(g, "Tanh", x)


@form()
def tree(g):
    x = pick(g)
    level = [activation(g, x) if g.chance(0.5) else x for _ in range(g.integer(2, 5))]
    while len(level) > 1:
        level = [combine(g, *level[:2]), *level[2:]]


@form()
def cancelling(g):
    """Scales and sums by constants, of which some are undone, around a product or alone."""
    x = pick(g)
    for _ in range(g.integer(1, 3)):
        x = scaled(g, x)
    if deep(x) and g.chance(0.6):
        x = product(g, x)
        for _ in range(g.integer(0, 2)):
            x = scaled(g, x)


@form(4)
def open_against_open(g):
    """Two values whose open sizes have other names meet: one of them is 1 in a run, or both are equal."""
    x = pick(g, accepts=lambda v: {"N", "M"} & set(map(root, v.dims)))

    def meets(v):
        return v is not x and all_meet(v.dims, x.dims) and any(
            a != b and 1 not in (a, b) for a, b in zip(v.dims[::-1], x.dims[::-1]))
    try:
        y = pick(g, accepts=meets)
    except Redraw:
        dims = [relative(g, dim) for dim in x.dims]
        axis = g.choose([at for at, dim in enumerate(x.dims) if root(dim) in ("N", "M")])
        dims[axis] = g.choose([name for name in (*ONE_OR, *EQUAL) if root(name) == root(x.dims[axis])
                               and name != x.dims[axis]])
        y = g.input(F32, dims[g.integer(0, axis):])
    kind = g.integer(0, 3)
    if kind == 0:
        g.add("Greater", [x, y], broadcast(x.dims, y.dims), exact=False)
        dims = last(g).dims
        op(g, "Where", last(g), *((x, y) if g.chance(0.5) else (y, x)), dims=dims)
    elif kind == 1 and x.rank == y.rank and [
            i for i in range(x.rank) if same(x.dims[:i] + x.dims[i + 1:], y.dims[:i] + y.dims[i + 1:])]:
        axis = g.choose([i for i in range(x.rank) if same(x.dims[:i] + x.dims[i + 1:],
                                                          y.dims[:i] + y.dims[i + 1:])])
        concat(g, [x, y, x] if g.chance(0.3) else [x, y], axis)
    elif kind == 2:
        g.add("Shape", [y], (y.rank,))
        op(g, "Expand", x, last(g), dims=broadcast(x.dims, y.dims))
    else:
        combine(g, activation(g, x) if g.chance(0.5) else x, y)
    z = last(g)
    if g.chance(0.5) and z.rank:
        axis = g.integer(-z.rank, -1)
        keep = tuple(1 if at == axis else dim for at, dim in zip(range(-z.rank, 0), z.dims))
        y = op(g, g.choose(["ReduceMax", "ReduceSum", "ReduceMean"]), z, g.ints(axis), dims=keep, keepdims=1)
        combine(g, z, y)
    epilogue(g, last(g))


@form()
def outer(g):
    """A column and a row that meet."""
    x = pick(g, rank=(1, 2))
    column = op(g, "Unsqueeze", x, g.ints(-1), dims=(*x.dims, 1))
    y = g.weight(F32, [g.choose([1, 3, 5, 17])])
    y = activation(g, combine(g, column, y))
    if g.chance(0.5):
        combine(g, y, column)


@form()
def broadcast_both_ways(g):
    x = pick(g, rank=range(2, 5))
    shape = [dim if isinstance(dim, int) and g.chance(0.5) else 1 for dim in x.dims]
    y = combine(g, activation(g, x), g.weight(F32, shape))
    combine(g, y, op(g, "ReduceMean", x, g.ints(-1), dims=(*x.dims[:-1], 1), keepdims=1))


@form()
def masked(g):
    x = pick(g)
    g.add("Greater", [x, g.weight(F32, ())], x.dims, exact=False)
    mask = last(g)
    assert mask.dtype is BOOL
    g.add("Where", [mask, activation(g, x), scalar(g, -1)], x.dims, exact=False)


@form()
def shared(g):
    """A value with readers of several kinds."""
    x = activation(g, pick(g, rank=range(2, 5)))
    op(g, "ReduceMax", x, g.ints(-1), dims=(*x.dims[:-1], 1), keepdims=1)
    epilogue(g, x)
    turn(g, x, [int(axis) for axis in g.random.permutation(x.rank)])


# --- movement: other orders, views of views, concatenations

def turn(g, x, perm):
    return op(g, "Transpose", x, dims=tuple(x.dims[axis] for axis in perm), perm=perm)


@form(3)
def turned(g):
    """Work in another order of dimensions, as networks with channels last have it, whose results are read in both
    orders."""
    x = pick(g, rank=range(2, 5))
    perm = [int(axis) for axis in g.random.permutation(x.rank)]
    back = [perm.index(axis) for axis in range(x.rank)]
    y, seen = turn(g, x, perm), []
    for _ in range(g.integer(1, 4)):
        y = g.choose([epilogue, activation, scaled])(g, y)
        if g.chance(0.4):
            seen.append(turn(g, y, back))
        if g.chance(0.3):
            op(g, "ReduceMax", y, g.ints(-1), dims=(*y.dims[:-1], 1), keepdims=1)
        if g.chance(0.2):
            activation(g, turn(g, y, perm))
    if not seen or g.chance(0.7):
        seen.append(turn(g, y, back))
    for value in seen:
        if g.chance(0.5):
            combine(g, value, x) if value.dims == x.dims else activation(g, value)


@form(2)
def shuffled(g):
    """Channels that change groups between products, as ShuffleNet's do; the batch may be open."""
    x = pick(g, accepts=lambda v: image(v) and v.dims[1] > 1 and all(isinstance(d, int) for d in v.dims[2:]))
    batch, channels, *sizes = x.dims
    groups = g.choose([count for count in range(2, channels + 1) if channels % count == 0])
    split = (batch, groups, channels // groups, *sizes)
    y = op(g, "Reshape", x, g.ints(-1, *split[1:]), dims=split)
    y = turn(g, y, [0, 2, 1, 3, 4])
    y = op(g, "Reshape", y, g.ints(-1, *x.dims[1:]), dims=x.dims)
    if g.chance(0.3):
        activation(g, y)
    kernel = g.choose([1, 3])
    op(g, "Conv", y, g.weight(F32, [channels, channels // groups, kernel, kernel]), dims=x.dims, group=groups,
       pads=[kernel // 2] * 4)
    if g.chance(0.5):
        epilogue(g, last(g))


def move(g, x):
    """One step that computes nothing."""
    kind = g.integer(0, 6)
    if kind == 0:
        return turn(g, x, [int(axis) for axis in g.random.permutation(x.rank)])
    wide = [i for i, dim in enumerate(x.dims) if isinstance(dim, int) and dim > 1]
    if kind == 1 and wide:
        axis = g.choose(wide)
        cut = g.integer(1, x.dims[axis] - 1)
        parts = (cut, x.dims[axis] - cut)
        g.add("Split", [x, g.ints(*parts)],
              lambda i, _: (*x.dims[:axis], parts[i], *x.dims[axis + 1:]), outputs=2, axis=axis,
              exact=False)
        return g.choose(g.values[-2:])
    if kind == 2 and wide:
        axis = g.choose(wide)
        start, step = g.integer(0, x.dims[axis] - 1), g.choose([1, 1, 2, -1])
        end = 2 ** 62 if step > 0 else -2 ** 62
        left = len(range(*slice(start, None, step).indices(x.dims[axis])))
        return op(g, "Slice", x, g.ints(start), g.ints(end), g.ints(axis), g.ints(step),
                  dims=(*x.dims[:axis], left, *x.dims[axis + 1:]))
    if kind == 3 and x.rank >= 2 and all(isinstance(dim, int) for dim in x.dims[-2:]):
        return op(g, "Reshape", x, g.ints(*[0] * (x.rank - 2), -1),
                  dims=(*x.dims[:-2], x.dims[-1] * x.dims[-2]))
    if kind == 4 and x.rank < 5:
        axis = g.integer(0, x.rank)
        return op(g, "Unsqueeze", x, g.ints(axis), dims=(*x.dims[:axis], 1, *x.dims[axis:]))
    factors = [(i, f) for i, dim in enumerate(x.dims) for f in (2, 3, 4)
               if isinstance(dim, int) and dim > f and dim % f == 0 and x.rank < 5]
    if kind == 5 and factors:
        axis, factor = g.choose(factors)
        dims = (*x.dims[:axis], factor, x.dims[axis] // factor, *x.dims[axis + 1:])
        target = [dim if isinstance(dim, int) else -1 for dim in dims]
        if target.count(-1) <= 1:
            return op(g, "Reshape", x, g.ints(*target), dims=dims)
    if 1 in x.dims and g.chance(0.7):
        axis = x.dims.index(1)
        size = g.choose([2, 3, 5])
        return op(g, "Expand", x, g.ints(*[size if i == axis else 1 for i in range(x.rank)]),
                  dims=(*x.dims[:axis], size, *x.dims[axis + 1:]))
    return x


@form(3)
def views(g):
    """Views of views, what they view, and readers of both."""
    x = pick(g, rank=range(1, 5))
    if g.chance(0.6):
        x = activation(g, x)
    y = x
    for _ in range(g.integer(2, 5)):
        y = move(g, y)
    if y is x:
        raise Redraw()
    y = epilogue(g, activation(g, y))
    if g.chance(0.3):
        move(g, y)


def concat(g, parts, axis):
    dims = list(parts[0].dims)
    widths = [part.dims[axis] for part in parts]
    dims[axis] = sum(widths) if all(isinstance(width, int) for width in widths) else g.symbol()
    return op(g, "Concat", *parts, dims=tuple(dims), axis=axis)


@form(3)
def concatenation(g):
    """Parts that others read as well, that come twice, or that are views."""
    x = pick(g, rank=range(1, 5))
    axis = g.integer(0, x.rank - 1)
    parts = []
    for _ in range(g.integer(2, 4)):
        kind = g.integer(0, 4)
        if kind == 0 and parts:
            parts.append(g.choose(parts))
        elif kind == 1 and isinstance(x.dims[axis], int) and x.dims[axis] > 2:
            parts.append(op(g, "Slice", x, g.ints(1), g.ints(x.dims[axis] - 1), g.ints(axis),
                            dims=(*x.dims[:axis], x.dims[axis] - 2, *x.dims[axis + 1:])))
        elif kind == 2:
            parts.append(x)
        else:
            parts.append(activation(g, x))
    whole = concat(g, parts, axis)
    if g.chance(0.6):
        epilogue(g, g.choose(parts))
    if g.chance(0.4):
        whole = concat(g, [whole, activation(g, x)], axis)
    activation(g, whole) if g.chance(0.6) else move(g, whole)


@form()
def roll(g):
    x = pick(g, rank=range(2, 5))
    wide = [i for i, dim in enumerate(x.dims) if isinstance(dim, int) and dim > 1]
    if not wide:
        raise Redraw()
    axis = g.choose(wide)
    shift, size = g.integer(1, x.dims[axis] - 1), x.dims[axis]
    pieces = [op(g, "Slice", x, g.ints(start), g.ints(end), g.ints(axis),
                 dims=(*x.dims[:axis], end - start, *x.dims[axis + 1:]))
              for start, end in ((shift, size), (0, shift))]
    epilogue(g, concat(g, pieces, axis))


@form()
def rows_of_table(g):
    """An embedding, a position, a norm."""
    width = g.choose([8, 17, 32])
    table = g.weight(F32, [g.integer(3, 40), width])
    shape = [g.integer(1, 5), g.integer(1, 5)]
    index = g.constant(g.random.integers(0, table.array.shape[0], shape).astype(I64))
    x = op(g, "Gather", table, index, dims=(*shape, width), axis=0)
    x = combine(g, x, g.weight(F32, [shape[1], width]))
    layer_norm(g, x, -1)


# --- reductions and what surrounds them

def softmax(g, x, axis, finite=True):
    keep = tuple(1 if i == axis % x.rank else dim for i, dim in enumerate(x.dims))
    largest = op(g, "ReduceMax", x, g.ints(axis), dims=keep, keepdims=1, finite=finite)
    shifted = op(g, "Sub", x, largest, finite=finite)
    powers = op(g, "Exp", shifted)
    return op(g, "Div", powers, op(g, "ReduceSum", powers, g.ints(axis), dims=keep, keepdims=1))


def layer_norm(g, x, axis):
    keep = tuple(1 if i == axis % x.rank else dim for i, dim in enumerate(x.dims))
    centred = op(g, "Sub", x, op(g, "ReduceMean", x, g.ints(axis), dims=keep, keepdims=1))
    square = (op(g, "Mul", centred, centred) if g.chance(0.5) else
              op(g, "Pow", centred, scalar(g, 2)))
    variance = op(g, "ReduceMean", square, g.ints(axis), dims=keep, keepdims=1)
    spread = op(g, "Sqrt", op(g, "Add", variance, scalar(g, 0.01)))
    y = op(g, "Div", centred, spread)
    size = x.dims[axis]
    if isinstance(size, int) and axis == -1:
        y = op(g, "Add", op(g, "Mul", y, g.weight(F32, [size])), g.weight(F32, [size]))
    return y


@form(2)
def normalisation(g):
    x = pick(g, rank=range(1, 5))
    axis = -1 if g.chance(0.6) else g.integer(-x.rank, -1)
    if g.chance(0.4):
        x = combine(g, x, activation(g, x))
    y = g.choose([softmax, layer_norm])(g, x, axis)
    if g.chance(0.3):
        y = combine(g, y, x)
    epilogue(g, y)


@form(2)
def reductions(g):
    """One or several, over the same rows or others, with pointwise on either side."""
    x = pick(g, rank=range(1, 5))
    before = epilogue(g, x)
    for _ in range(g.integer(1, 3)):
        count = g.integer(1, min(2, x.rank))
        axes = sorted({g.integer(-x.rank, -1) for _ in range(count)})
        keep = g.integer(0, 1)
        dims = tuple(1 if axis in axes else dim
                     for axis, dim in zip(range(-x.rank, 0), x.dims) if keep or axis not in axes)
        kind = g.choose(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare",
                         "ReduceL2", "ReduceL1"])
        y = op(g, kind, before, g.ints(*axes), dims=dims, keepdims=keep)
        y = epilogue(g, y) if g.chance(0.5) else y
        if keep and g.chance(0.6):
            combine(g, before, y)


@form()
def norm_operators(g):
    x = pick(g, rank=range(2, 5), accepts=lambda v: isinstance(v.dims[-1], int))
    y = epilogue(g, x)
    if g.chance(0.5):
        y = op(g, "Softmax", y, axis=g.integer(-x.rank, -1))
    else:
        size = x.dims[-1]
        y = op(g, "LayerNormalization", y, g.weight(F32, [size]), g.weight(F32, [size]),
               axis=-1, epsilon=1e-2)
    epilogue(g, y)


@form(2)
def masked_scores(g):
    """Softmax of what a mask hides some of, as exporters write it; of some rows all of it."""
    x = pick(g, rank=range(2, 5))
    hides = g.choose([LOWEST, LOWEST, -1e9, -1e4, -float("inf")])
    shape = [dim if isinstance(dim, int) and g.chance(0.8) else 1 for dim in x.dims]
    hidden = g.random.uniform(size=shape) < 0.4
    if not numpy.isfinite(hides):
        hidden[..., 0] = False  # a row of which all is hidden has no result
    elif g.chance(0.4):
        hidden[..., :1, :] = True
    made = len(g.values)
    kind = g.integer(0, 3)
    given = None
    if kind == 3 and len(g.inputs) < 4:  # a mask that a run is given
        given = g.input(BOOL, x.dims[-1:] if g.chance(0.5) else x.dims)
        made += 1
    if kind == 0:
        y = op(g, "Add", x, g.constant(numpy.where(hidden, F32(hides), F32(0))), finite=False)
    elif kind == 1:
        y = op(g, "Where", g.constant(hidden), scalar(g, hides), x, dims=x.dims, finite=False)
    else:
        seen = op(g, "Cast", given, to=1) if given else g.constant((~hidden).astype(F32))
        turned = op(g, "Sub", scalar(g, 1), seen, dims=seen.dims)
        mask = op(g, "Mul", turned, scalar(g, max(hides, LOWEST)), dims=seen.dims, finite=False)
        y = op(g, "Add", x, mask, finite=False)
    y = softmax(g, y, -1, finite=False) if g.chance(0.5) else op(g, "Softmax", y, axis=-1)
    # Nothing else is drawn of what has no magnitude to compare with.
    g.values[made:] = [y]
    epilogue(g, y)


# --- products

def product(g, x, columns=None):
    """With a weight that may be turned or padded, of a value that may be prepared."""
    depth = x.dims[-1]
    columns = columns or g.choose([1, 3, 8, 17, 33, 70, 130])
    if g.chance(0.3):
        x = activation(g, x)
    return op(g, "MatMul", x, g.weight(F32, [depth, columns]), dims=(*x.dims[:-1], columns))


def deep(v):
    return v.rank >= 2 and isinstance(v.dims[-1], int)


@form(3)
def product_with_epilogue(g):
    x = pick(g, accepts=deep)
    y = product(g, x)
    if g.chance(0.7):
        y = op(g, "Add", y, g.weight(F32, [y.dims[-1]]))
    y = epilogue(g, y)
    if g.chance(0.4):
        y = product(g, y, x.dims[-1])
        combine(g, x, y)


@form()
def gemm(g):
    x = pick(g, rank=(2,))
    turned, across = g.integer(0, 1), g.integer(0, 1)
    depth, rows = x.dims if across else x.dims[::-1]
    if not isinstance(depth, int):
        raise Redraw()
    columns = g.choose([1, 5, 16, 33])
    w = g.weight(F32, [columns, depth] if turned else [depth, columns])
    c = g.weight(F32, g.choose([[columns], [1, columns], []]))
    y = op(g, "Gemm", x, w, c, dims=(rows, columns), transA=across, transB=turned,
           alpha=g.choose([1.0, 0.5]), beta=g.choose([1.0, 0.5]))
    epilogue(g, y)


@form(2)
def products_of_one_input(g):
    x = pick(g, accepts=deep)
    columns = g.choose([4, 8, 16])
    results = []
    for _ in range(3):
        y = product(g, x, columns) if g.chance(0.3) else op(
            g, "MatMul", x, g.weight(F32, [x.dims[-1], columns]), dims=(*x.dims[:-1], columns))
        results.append(op(g, "Add", y, g.weight(F32, [columns])) if g.chance(0.8) else y)
    if g.chance(0.4):
        epilogue(g, concat(g, results, results[0].rank - 1))
    elif results[0].rank == 3:
        attention(g, *results)
    else:
        combine(g, combine(g, *results[:2]), results[2])


def attention(g, query, key, content):
    keys = op(g, "Transpose", key, dims=(key.dims[0], *key.dims[:0:-1]), perm=[0, 2, 1])
    scores = op(g, "MatMul", query, keys, dims=(*query.dims[:-1], key.dims[1]))
    scores = op(g, "Mul", scores, scalar(g, 0.25))
    weights = softmax(g, scores, -1) if g.chance(0.5) else op(g, "Softmax", scores, axis=-1)
    return op(g, "MatMul", weights, content, dims=(*query.dims[:-1], content.dims[-1]))


@form()
def product_of_views(g):
    """Operands that are slices, transposes or broadcasts of others."""
    x = pick(g, accepts=deep)
    moved = x
    for _ in range(g.integer(1, 3)):
        moved = move(g, moved)
    if not deep(moved):
        raise Redraw()
    epilogue(g, product(g, moved))


@form(2)
def equal_branches(g):
    """The same steps on parts of a value, or on all of it, with weights of their own: heads, experts,
    groups. One of them may differ, and one may be read beside the others."""
    x = pick(g, accepts=lambda v: deep(v) and v.dims[-1] >= 2)
    count, width = g.choose([2, 3, 5]), x.dims[-1]
    parts = [x] * count
    if width >= count and g.chance(0.6):
        width //= count
        parts = [op(g, "Slice", x, g.ints(i * width), g.ints((i + 1) * width), g.ints(x.rank - 1),
                    dims=(*x.dims[:-1], width)) for i in range(count)]
    steps = [g.choose(("product", "scale", "softmax", "Tanh", "Transpose"))
             for _ in range(g.integer(1, 3))]
    columns = g.choose([4, 8, 9])
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    results = []
    for i, y in enumerate(parts):
        for step in steps[:len(steps) - (i == 1 and g.chance(0.1))]:
            if step == "product" and deep(y):
                y = op(g, "MatMul", y, g.weight(F32, [y.dims[-1], columns]),
                       dims=(*y.dims[:-1], columns))
            elif step == "scale" and isinstance(y.dims[-1], int):
                y = op(g, "Mul", y, g.weight(F32, [y.dims[-1]]))
            elif step == "softmax":
                y = op(g, "Softmax", y, axis=-1)
            elif step == "Transpose":
                y = turn(g, y, order)
            else:
                y = op(g, "Tanh", y)
        results.append(y)
    if g.chance(0.2):
        results = results[::-1]
    if g.chance(0.3):
        epilogue(g, results[0])
    if len({y.dims for y in results}) == 1:
        whole = concat(g, results, g.integer(0, results[0].rank - 1)) if g.chance(0.7) else (
            combine(g, results[0], results[-1]))
        activation(g, whole)


# --- convolutions

def image(v):
    return v.rank == 4 and isinstance(v.dims[1], int) and v.dims[1] > 0


def pads_of(g, reach, dims):
    """Before and after each of two axes: none, what keeps the size, or any."""
    fits = min(map(g.least_of, dims)) > reach
    kind = g.integer(0, 9)
    if kind < 6 or (kind < 8 and not fits):
        return [reach // 2, reach // 2, reach - reach // 2, reach - reach // 2]
    return [g.integer(0 if fits else reach, reach) if kind >= 8 else 0 for _ in range(4)]


def convolve(g, x, *, kernel=None, filters=None):
    """A convolution with what stands around it in networks."""
    channels = x.dims[1]
    kernel = kernel or g.choose([1, 3, 3, 2, 5])
    groups = g.choose([1, 1, 1, channels])
    filters = filters or groups * g.choose([1, 1, 2, 3] if groups > 1 else [1, 4, 7, 16, 24])
    groups = groups if filters % groups == 0 else 1
    dilation, stride = g.choose([1, 1, 1, 2]), g.choose([1, 1, 1, 2])
    reach = (kernel - 1) * dilation
    pads = pads_of(g, reach, x.dims[2:])
    if g.chance(0.25) and reach:
        x = op(g, "Pad", x, g.ints(0, 0, 1, 0, 0, 0, 1, 2), mode="constant",
               dims=(*x.dims[:2], g.derived(x.dims[2], ("plus", 2), lambda size: size + 2),
                     g.derived(x.dims[3], ("plus", 2), lambda size: size + 2)))
        if g.chance(0.3):
            x = scaled(g, x)
    if any(windows_along(g.least_of(dim), reach + 1, stride, pads[axis], pads[axis + 2], 0) < 1
           for axis, dim in enumerate(x.dims[2:])):
        raise Redraw()
    inputs = [x, g.weight(F32, [filters, channels // groups, kernel, kernel])]
    if g.chance(0.5):
        inputs.append(g.weight(F32, [filters]))
    window = {"pads": pads, "dilations": [dilation] * 2, "strides": [stride] * 2}
    out = window_dims(g, x.dims[2:], [kernel] * 2, **window)
    y = op(g, "Conv", *inputs, dims=(x.dims[0], filters, *out), group=groups, **window)
    if g.chance(0.5):
        variance = g.constant(numpy.abs(g.array(F32, [filters])) + F32(0.5))
        scale = g.weight(F32, [filters])
        y = op(g, "BatchNormalization", y, scale, scale, scale, variance, epsilon=1e-2)
    return op(g, "Mul", y, scalar(g, 0.125)) if g.chance(0.2) else y


def pool(g, x):
    kernel = [min(g.choose([2, 3]), g.least_of(size)) for size in x.dims[2:]]
    if min(kernel) < 1:
        raise Redraw()
    attributes = {"strides": [2, 2]}
    if g.chance(0.4):
        attributes["pads"] = [g.integer(0, size - 1) for size in [*kernel, *kernel]]
    if g.chance(0.3):
        attributes["ceil_mode"] = 1
    out = window_dims(g, x.dims[2:], kernel, **attributes)
    return op(g, g.choose(["MaxPool", "AveragePool"]), x, dims=(*x.dims[:2], *out),
              kernel_shape=kernel, **attributes)


@form(6)
def convolution(g):
    x = pick(g, accepts=image)
    y = epilogue(g, convolve(g, x))
    if g.chance(0.3):
        y = pool(g, y)
    if g.chance(0.4):
        y = convolve(g, y, kernel=1, filters=x.dims[1])
        if y.dims == x.dims:
            activation(g, combine(g, x, y))


@form(3)
def pooled(g):
    x = pick(g, accepts=image)
    y = pool(g, epilogue(g, x))
    epilogue(g, y)


@form(2)
def inception(g):
    """1x1 convolutions that share an input, and the concatenation of all branches."""
    x = pick(g, accepts=image)
    branches = []
    for _ in range(g.integer(2, 4)):
        filters = g.choose([3, 4, 8])
        y = op(g, "Conv", x, g.weight(F32, [filters, x.dims[1], 1, 1]), g.weight(F32, [filters]),
               dims=(x.dims[0], filters, *x.dims[2:]))
        y = op(g, "Relu", y)
        if g.chance(0.4):
            y = op(g, "Conv", y, g.weight(F32, [5, filters, 3, 3]), pads=[1] * 4,
                   dims=(x.dims[0], 5, *x.dims[2:]))
        branches.append(y)
    if g.chance(0.5):
        branches.append(x)
    whole = concat(g, branches, 1)
    if g.chance(0.5):
        epilogue(g, g.choose(branches))
    if g.chance(0.5):
        epilogue(g, whole)


@form()
def squeeze_excite(g):
    x = pick(g, accepts=image)
    x = activation(g, x)
    channels = x.dims[1]
    y = op(g, "GlobalAveragePool", x, dims=(*x.dims[:2], 1, 1))
    y = op(g, "Conv", y, g.weight(F32, [4, channels, 1, 1]), g.weight(F32, [4]),
           dims=(x.dims[0], 4, 1, 1))
    y = op(g, "Conv", op(g, "Relu", y), g.weight(F32, [channels, 4, 1, 1]),
           dims=(x.dims[0], channels, 1, 1))
    op(g, "Mul", x, op(g, "Sigmoid", y))


@form(2)
def step_up(g):
    """What an U-Net does: up by two, beside a skip."""
    x = pick(g, accepts=lambda v: image(v) and v.array.size < 2000)
    filters = g.choose([2, 3, 8])
    dims = (x.dims[0], filters, *(g.derived(dim, ("times", 2, 0), lambda n: 2 * n) for dim in x.dims[2:]))
    if g.chance(0.5):  # of windows that abut, or that overlap
        size, cut = g.choose([(2, 0), (4, 1)])
        y = op(g, "ConvTranspose", x, g.weight(F32, [x.dims[1], filters, size, size]), strides=[2, 2],
               pads=[cut] * 4, dims=dims)
    else:
        y = op(g, "Resize", x, None, g.constant(numpy.array([1, 1, 2, 2], F32)), mode="nearest",
               coordinate_transformation_mode="asymmetric", nearest_mode="floor",
               dims=(*x.dims[:2], *dims[2:]))
    epilogue(g, concat(g, [y, op(g, "Tanh", y)], 1))
