"""How operators that write at computed places, sort, choose or make numbers of their own are drawn for a random model."""
# SPDX-License-Identifier: Apache-2.0
from fuzz_graphs import BOOL, F32, F64, I32, I64, Redraw
from fuzz_operators import operator


def scattered_places(g, size, shape):
    """Constants, or computed from an input."""
    if g.chance(0.3):
        return g.constant(g.random.integers(-size, size, shape).astype(I64))
    g.add("Mod", [g.input(I64, shape), g.ints(size)], shape)
    return g.values[-1]


def reduction(g):
    first = {"add": 16, "mul": 16, "max": 18, "min": 18}
    name = g.choose(("none", "none", *first))
    return {} if name == "none" or g.opset < first[name] else {"reduction": name}


@operator("ScatterND")
def scatter_nd(g, name):
    dtype, count, size, width = g.choose((F32, I64)), g.integer(1, 9), g.integer(1, 5), g.integer(1, 4)
    places = scattered_places(g, size, (count, 1))
    data, updates = g.weight(dtype, [size, width]), g.input(dtype, (count, width))
    if g.chance(0.5):
        data = g.input(dtype, (size, width))
    g.add(name, [data, places, updates], (size, width), **reduction(g))


@operator("ScatterElements")
def scatter_elements(g, name):
    dtype, rows, size, count = g.choose((F32, F64, I32)), g.integer(1, 4), g.integer(1, 5), g.integer(1, 7)
    axis = g.choose((0, 1, -1))
    data = (size, rows) if axis == 0 else (rows, size)
    given = (count, g.integer(1, rows)) if axis == 0 else (g.integer(1, rows), count)
    places = scattered_places(g, size, given)
    g.add(name, [g.input(dtype, data), places, g.input(dtype, given)], data, axis=axis, **reduction(g))


@operator("TensorScatter")
def tensor_scatter(g, name):
    if g.opset < 24:
        raise Redraw()
    dtype, count, length = g.choose((F32, I64)), g.integer(1, 4), g.integer(1, 6)
    mode = g.choose(("linear", "circular"))
    new = g.integer(1, length)
    starts = g.constant(g.random.integers(0, length - new + 1 if mode == "linear" else length, count).astype(I64))
    shape, axis = (count, length, g.integer(1, 5)), g.choose((1, -2))
    g.add(name, [g.input(dtype, shape), g.input(dtype, (count, new, shape[2])), starts], shape, axis=axis, mode=mode)


@operator("TopK")
def top_k(g, name):
    if g.opset < 11:
        raise Redraw()
    x = g.pick(lambda v: v.dtype in (F32, F64, I32, I64) and v.rank and any(
        isinstance(dim, int) and 0 < dim < 40 for dim in v.dims))
    axis = g.choose([i for i, dim in enumerate(x.dims) if isinstance(dim, int) and 0 < dim < 40])
    k = g.integer(0, x.dims[axis])
    g.add(name, [x, g.ints(k)], (*x.dims[:axis], k, *x.dims[axis + 1:]), outputs=2, axis=axis, largest=g.integer(0, 1))


ONE, MEAN = {"low": 1.5, "high": 1.5}, {"mean": 1.5, "scale": 1e-30}


@operator("RandomUniform", "RandomNormal")
def certain(g, name):
    """One number: what is drawn otherwise, ONNX Runtime draws otherwise."""
    shape = [g.integer(1, 5) for _ in range(g.integer(1, 3))]
    g.add(name, [], shape, exact=False, shape=shape, **(ONE if name == "RandomUniform" else MEAN))


@operator("RandomUniformLike", "RandomNormalLike")
def certain_like(g, name):
    x = g.floats(types=(F32,))
    g.add(name, [x], x.dims, **(ONE if name == "RandomUniformLike" else MEAN))


@operator("Bernoulli")
def certain_choice(g, name):
    """Of what is 0 or 1."""
    x = g.pick(lambda v: v.dtype is BOOL)
    g.add("Cast", [x], x.dims, to=1)
    g.add(name, [g.values[-1]], x.dims, dtype=g.choose([1, 6, 9]))


@operator("Multinomial")
def certain_class(g, name):
    """Of one class."""
    x = g.pick(lambda v: v.dtype is F32 and v.rank == 2)
    count = g.integer(1, 4)
    g.add("Slice", [x, g.ints(0), g.ints(1), g.ints(1)], (x.dims[0], 1))
    g.add(name, [g.values[-1]], (x.dims[0], count), sample_size=count)
