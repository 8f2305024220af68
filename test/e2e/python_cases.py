#!/usr/bin/env python3
"""Cases of package cameo with arrays of numpy's and of a library that speaks DLPack."""
# SPDX-License-Identifier: Apache-2.0
import io
import json
import logging
import os
import pickle
import sys
import tempfile
import threading
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper

import cameo
from python_checks import case, expect, expect_equal, expect_error, main

F32 = numpy.float32


def make(nodes, inputs, outputs, opset=17):
    """A model of nodes (operator, inputs, outputs, attributes), and of values (name, type, shape)."""
    graph = helper.make_graph(
        [helper.make_node(operator, read, written, name=f"n{i}", **attributes)
         for i, (operator, read, written, attributes) in enumerate(nodes)], "g",
        [helper.make_tensor_value_info(*value) for value in inputs],
        [helper.make_tensor_value_info(*value) for value in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def turned(element):
    """y is x transposed, of any elements."""
    return make([("Transpose", ["x"], ["y"], {"perm": [1, 0]})], [("x", element, ("N", "M"))],
                [("y", element, None)], 21)


def sums():
    """Two inputs, two outputs: a + b, and a - b."""
    return make([("Add", ["a", "b"], ["sum"], {}), ("Sub", ["a", "b"], ["difference"], {})],
                [("a", TensorProto.FLOAT, ("N", 3)), ("b", TensorProto.FLOAT, ("N", 3))],
                [("sum", TensorProto.FLOAT, None), ("difference", TensorProto.FLOAT, None)])


def reshaped():
    """x in a shape that is read on the host."""
    return make([("Reshape", ["x", "shape"], ["r"], {}), ("Neg", ["r"], ["y"], {})],
                [("x", TensorProto.FLOAT, ("N",)), ("shape", TensorProto.INT64, (2,))],
                [("y", TensorProto.FLOAT, None)])


def compiled(model, device="simulator", **options):
    options.setdefault("target", "sim:sm_80")
    return cameo.compile(model, device=device, **options)


def layouts(array):
    """The values of a 4x6 array, by name, as other views of memory."""
    read_only = array.copy()
    read_only.flags.writeable = False
    padded = numpy.zeros((9, 14), array.dtype)
    padded[1:9:2, 2:14:2] = array
    unaligned = numpy.zeros(array.nbytes + 1, numpy.uint8)[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    return {"contiguous": array, "fortran": numpy.asfortranarray(array), "strided": padded[1:9:2, 2:14:2],
            "negative": array[::-1, ::-1].copy()[::-1, ::-1], "transposed": array.T.copy().T, "read-only": read_only,
            "unaligned": unaligned, "row repeated": numpy.broadcast_to(array[1], (4, 6)),
            "no rows": array[:0], "no columns": array[:, :0], "one row": array[2:3]}


def elements(names):
    for name in names:
        yield name, getattr(TensorProto, name), helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name))


@case("numpy")
def elements_and_layouts():
    random = numpy.random.default_rng(0)
    names = ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
             "UINT64", "BOOL", "FLOAT8E4M3FN", "FLOAT8E5M2"]
    for name, element, dtype in elements(names):
        model = compiled(turned(element))
        values = random.integers(0, 2 if name == "BOOL" else 90, (4, 6)).astype(dtype)
        for layout, view in layouts(values).items():
            try:
                expect_equal(model(view), view.T)
                out = numpy.zeros(view.T.shape, dtype)
                expect(model(view, out=out) is out, "another array than out")
                expect_equal(out, view.T)
            except AssertionError as error:
                raise AssertionError(f"{name}, {layout}: {error}") from error


@case("numpy")
def outputs_in_memory_of_others():
    """Outputs that would overwrite one another are refused; one in the memory of an input gets its values last."""
    model = compiled(sums())
    a, b, both = numpy.ones((2, 3), F32), numpy.full((2, 3), 2, F32), numpy.empty((4, 3), F32)
    refused = [
        ("elements in one place", [numpy.lib.stride_tricks.as_strided(both, (2, 3), (0, 4)), both[:2]]),
        ("output 'difference' is in the memory of output 'sum'", [both[:2], both[:2]]),
        ("output 'difference' is in the memory of output 'sum'", [both[:2], both[1:3]]),
    ]
    for text, out in refused:
        expect_error(ValueError, text, lambda out=out: model(a, b, out=out))
    columns = numpy.empty((2, 6), F32)
    model(a, b, out=[columns[:, ::2], columns[:, 1::2]])
    expect_equal(columns, numpy.tile(numpy.array([3, -1], F32), (2, 3)))
    model(a, b, out=[a, b])
    expect_equal(a, numpy.full((2, 3), 3, F32))
    expect_equal(b, numpy.full((2, 3), -1, F32))


@case("numpy")
def outputs_in_other_layouts():
    model = compiled(turned(TensorProto.FLOAT))
    x = numpy.arange(24, dtype=F32).reshape(6, 4)
    for name, view in layouts(numpy.zeros((4, 6), F32)).items():
        if name in ("read-only", "row repeated"):
            expect_error(TypeError, "output 'y'", lambda view=view: model(x, out=view))
        elif view.shape == (4, 6):
            model(x, out=view)
            expect_equal(numpy.ascontiguousarray(view), x.T)


@case("numpy")
def elements_of_four_bits():
    random = numpy.random.default_rng(0)
    for name, element, dtype in elements(["INT4", "UINT4"]):
        model = compiled(turned(element), shapes={"N": 3, "M": 5})
        values = random.integers(0, 8, (3, 5)).astype(numpy.int8) - (4 if name == "INT4" else 0)
        for view in (values.astype(dtype), values.astype(dtype)[:, ::-1]):
            expect_equal(model(view), numpy.ascontiguousarray(view.T))


@case("numpy")
def a_scalar():
    model = compiled(make([("Neg", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, ())], [("y", TensorProto.FLOAT, ())]))
    expect_equal(model(numpy.array(3, F32)), numpy.array(-3, F32))
    expect_equal(model(F32(3)), numpy.array(-3, F32))
    expect_error(TypeError, "not of float64", lambda: model(numpy.float64(3)))


@case("numpy")
def several_inputs_and_outputs():
    model = compiled(sums())
    a, b = numpy.arange(6, dtype=F32).reshape(2, 3), numpy.full((2, 3), 10, F32)
    for total, difference in (model(a, b), model(a=a, b=b), model(a, b=b), model.run({"b": b, "a": a}).values()):
        expect_equal(total, a + b)
        expect_equal(difference, a - b)
    out = [numpy.empty((2, 3), F32), numpy.empty((2, 3), F32)]
    first, second = model(a, b, out=out)
    expect(first is out[0] and second is out[1], "other arrays than out")
    only = numpy.empty((2, 3), F32)
    results = model.run({"a": a, "b": b}, out={"difference": only})
    expect(results["difference"] is only, "another array than out")
    expect_equal(only, a - b)


@case("numpy")
def mistakes():
    model = compiled(sums())
    a = numpy.zeros((2, 3), F32)
    single = compiled(make([("Neg", ["a"], ["b"], {})], [("a", TensorProto.FLOAT, (2, 3))],
                           [("b", TensorProto.FLOAT, None)]))
    refused = [
        (TypeError, "no array for input 'b'", lambda: model(a)),
        (TypeError, "2 inputs, not 3", lambda: model(a, a, a)),
        (TypeError, "the model has 1 input, not 2", lambda: single(a, a)),
        (TypeError, "given twice", lambda: model(a, a=a)),
        (KeyError, "no input is named 'c'; there are 'a', 'b'", lambda: model(a, c=a)),
        (TypeError, "'b' has elements of float32, not of float64", lambda: model(a, a.astype(float))),
        (TypeError, "elements of dtype('>f4') have their bytes in the other order; .astype('float32') turns them",
         lambda: model(a, a.astype(">f4"))),
        (TypeError, "input 'b': a masked array", lambda: model(a, numpy.ma.masked_less(a, 1))),
        (TypeError, "output 'sum': a masked array", lambda: model(a, a, out=[numpy.ma.masked_less(a, 1), a.copy()])),
        (TypeError, "samples of 'a': a masked array",
         lambda: cameo.compile(sums(), precision="int8", calibration_data={"a": numpy.ma.masked_less(a, 1), "b": a})),
        (TypeError, "shape_values: a masked array",
         lambda: cameo.compile(sums(), shape_values={"a": numpy.ma.masked_less(a, 1)})),
        (ValueError, "input 'b': rank 0", lambda: model(a, F32(1))),
        (TypeError, "no array for input 'a', 'b'", lambda: model.run({})),
        (ValueError, "seed: -1 is not between 0 and 18446744073709551615", lambda: model.context().set_seed(-1)),
        (TypeError, "seed: a whole number was expected, not 1.5", lambda: model.context().set_seed(1.5)),
        (ValueError, f"stream: {2**70} is not", lambda: model(a, a, stream=2**70)),
        (ValueError, "stream: -1 is not", lambda: model(a, a, stream=-1)),
        (ValueError, "capacity: -1 is not", lambda: model.context().reserve_state("a", -1)),
        (ValueError, "threads: -1 is not between 0 and 4294967295", lambda: cameo.Device.simulator(threads=-1)),
        (TypeError, "checks: a whole number was expected, not '1'", lambda: cameo.Device.simulator(checks="1")),
        (ValueError, f"ordinal: {2**31} is not", lambda: cameo.Device.cuda(2**31)),
        (TypeError, "progress is True or a function", lambda: cameo.compile(sums(), progress=5)),
        (TypeError, "a cameo.Model is loaded for a device and is not pickled", lambda: pickle.dumps(model)),
        (TypeError, "a cameo.Context has memory of a device", lambda: pickle.dumps(model.context())),
        (TypeError, "elements of dtype('O') are in no model", lambda: model(a, a.astype(object))),
        (TypeError, "elements of dtype('<U32')", lambda: model(a, a.astype(str))),
        (TypeError, "not list", lambda: model(a, [[0, 0, 0]])),
        (TypeError, "not float", lambda: model(a, 1.0)),
        (ValueError, "input 'b': rank 1", lambda: model(a, a[0])),
        (ValueError, "input 'b'", lambda: model(a, a[:, :2])),
        (ValueError, "'N'", lambda: model(a, a[:1])),
        (TypeError, "2 outputs, not 1", lambda: model(a, a, out=a)),
        (ValueError, "(2, 3), not (3, 2)", lambda: model(a, a, out=[a.copy(), a.reshape(3, 2).copy()])),
        (TypeError, "elements of float32, not of int32", lambda: model(a, a, out=[a.astype("i4"), a.copy()])),
        (KeyError, "no output is named 'x'", lambda: model.run({"a": a, "b": a}, out={"x": a})),
        (TypeError, "a stream was expected", lambda: model(a, a, stream="0")),
        (ValueError, "a device is", lambda: cameo.Model(__file__, device="gpu")),
        (FileNotFoundError, "/no/such/file", lambda: cameo.Model("/no/such/file")),
        (IsADirectoryError, "folder", lambda: cameo.Model("/")),
        (cameo.ModelFileError, "not a model", lambda: cameo.Model(__file__)),
        (cameo.ModelFileError, "", lambda: cameo.Model(b"none")),
        (ValueError, "one run", lambda: model.benchmark(a, a, runs=0)),
        (TypeError, "are a dictionary, not list", lambda: model.run([a, a])),
        (TypeError, "input 'a': a shape has whole numbers", lambda: model.output_shapes((1.5, 3), (1, 3))),
        (ValueError, "a device is", lambda: cameo.Model(__file__, device="cuda:99999999999")),
        (TypeError, "a model is a path", lambda: cameo.compile(None)),
        (TypeError, "shapes are a dictionary", lambda: cameo.compile(sums(), shapes="N:2")),
        (TypeError, "options are a list", lambda: cameo.compile(sums(), options="--remarks")),
        (ValueError, "'-o' is what the call itself says", lambda: cameo.compile(sums(), options=["-o", "x"])),
        (ValueError, "'--emit=ptx' is what", lambda: cameo.compile(sums(), options=["--emit=ptx"])),
        (ValueError, "emit is", lambda: cameo.compile(sums(), emit="ptx", output="x")),
        (ValueError, "no model is written", lambda: cameo.compile(sums(), options=["--version"])),
        (cameo.CompileError, "./--version", lambda: cameo.compile("--version")),
    ]
    for kind, text, call in refused:
        expect_error(kind, text, call)
    expect_equal(model(a, a)[0], a)  # as before


@case("numpy")
def no_driver():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.plan"
        cameo.compile(sums(), output=path, target="sim:sm_80")
        model = cameo.Model(path)
        expect(model.device is None, "a device that nobody asked for")
        expect([t.name for t in model.inputs] == ["a", "b"], "inputs without a device")
        error = expect_error(cameo.DriverError, "no CUDA driver", lambda: model(numpy.zeros((1, 3), F32)))
        expect('device="simulator"' in "".join(error.__notes__), "no hint")


@case("numpy")
def every_status_has_an_exception():
    from cameo import _errors, _runtime
    for name in _runtime.status_names()[1:]:
        error = _errors.of_status(name, "text")
        expect(type(error) is not cameo.Error and error.status == name, f"{name} is {type(error).__name__}")
        expect(type(error).__module__ == "cameo", f"tracebacks show {type(error).__module__}.{type(error).__name__}")


@case("numpy")
def descriptions():
    model = compiled(reshaped())
    expect(model.inputs == (cameo.TensorInfo("x", "float32", ("N",)), cameo.TensorInfo("shape", "int64", (2,), True)),
           str(model.inputs))
    expect("x: float32[N]" in repr(model), repr(model))
    expect(model.output_shapes((6,), numpy.array([2, 3])) == {"y": (2, 3)}, "shapes by a value")
    expect(compiled(sums()).output_shapes(a=(5, 3), b=(5, 3)) == {"sum": (5, 3), "difference": (5, 3)}, "shapes")
    x = numpy.arange(6, dtype=F32)
    for shape in ((2, 3), (3, 2), (6, 1)):
        expect_equal(model(x, numpy.array(shape)), -x.reshape(shape))


@case("numpy")
def shapes_that_values_decide():
    """Shapes are of the inputs that are given, and never of an earlier call's."""
    found = compiled(make([("NonZero", ["x"], ["places"], {}), ("Neg", ["x"], ["y"], {})],
                          [("x", TensorProto.FLOAT, ("N", 3))],
                          [("places", TensorProto.INT64, None), ("y", TensorProto.FLOAT, None)]))
    wanted = {"places": (2, None), "y": (2, 3)}
    for rows in (0, 1, 2):
        expect(found.output_shapes((2, 3)) == wanted, f"{found.output_shapes((2, 3))} after {rows} rows of ones")
        x = numpy.zeros((2, 3), F32)
        x[:rows] = 1
        expect(found(x)[0].shape == (2, 3 * rows), "another shape")
        expect(found.output_shapes(x) == wanted, f"{found.output_shapes(x)} of an array")
    model = compiled(reshaped())
    for _ in range(2):
        error = expect_error(cameo.InvalidArgumentError, "input 'shape': its values decide about shapes",
                             lambda: model.output_shapes((6,), (2,)))
        expect(error.status == "invalid argument", error.status)
        model(numpy.zeros(6, F32), numpy.array([2, 3]))
    expect_error(TypeError, "input 'x' needs a shape or an array",
                 lambda: model.output_shapes(None, numpy.array([2, 3])))
    expect_error(TypeError, "of float32, not of int64",
                 lambda: model.output_shapes(numpy.arange(6), numpy.array([2, 3])))


@case("numpy")
def bytes_and_files():
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "a.plan", Path(folder) / "b.plan"
        model = compiled(sums())
        model.save(first)
        again = cameo.Model(first.read_bytes(), device="simulator")
        for kind in (bytearray, memoryview):
            expect(cameo.Model(kind(first.read_bytes())).inputs == model.inputs, f"another model of a {kind.__name__}")
            expect(compiled(kind(sums().SerializeToString()), shapes={}).inputs == model.inputs, kind.__name__)
        again.save(second)
        expect(first.read_bytes() == second.read_bytes(), "saved otherwise")
        a = numpy.ones((2, 3), F32)
        expect_equal(again(a, a)[0], a + a)
        for emit in ("exe", "lib", "plan"):
            path = Path(folder) / emit
            expect_equal(compiled(sums(), output=path, emit=emit)(a, a)[0], a + a)
            expect_equal(cameo.Model(path, device="simulator")(a, a)[0], a + a)


@case("numpy")
def states():
    model = compiled(make([("Add", ["x", "before"], ["after"], {})],
                          [("x", TensorProto.FLOAT, (3,)), ("before", TensorProto.FLOAT, (3,))],
                          [("after", TensorProto.FLOAT, (3,))]))
    x = numpy.array([1, 2, 3], F32)
    context = model.context()
    context.set_state("before", "after")
    for steps in (1, 2, 3):
        expect_equal(context(x, None), x * steps)
    expect_equal(context(x, x * 10), x * 11)
    expect_equal(context(x, None), x * 12)
    context.set_state("before", None)
    expect_error(cameo.InvalidArgumentError, "before", lambda: context(x, None))
    expect_error(KeyError, "no output is named 'later'", lambda: context.set_state("before", "later"))
    model = compiled(make([("Concat", ["x", "before"], ["both"], {"axis": 0})],
                          [("x", TensorProto.FLOAT, (3,)), ("before", TensorProto.FLOAT, (3,))],
                          [("both", TensorProto.FLOAT, (6,))]))
    expect_error(cameo.InvalidArgumentError, "cannot become input 'before'",
                 lambda: model.context().set_state("before", "both"))
    # The sizes of zeros are those of another input.
    model = compiled(make([("Add", ["x", "before"], ["after"], {})],
                          [("x", TensorProto.FLOAT, ("N", 3)), ("before", TensorProto.FLOAT, ("N", 3))],
                          [("after", TensorProto.FLOAT, ("N", 3))]))
    context = model.context()
    context.set_state("before", "after")
    for steps in (1, 2):
        expect_equal(context(x.reshape(1, 3), None), x.reshape(1, 3) * steps)


@case("numpy")
def logging_of_the_runtime():
    path = Path(tempfile.mkdtemp()) / "sums.plan"
    cameo.compile(sums(), output=path, target="sim:sm_80")
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append((record.levelname, record.getMessage()))
    logger = logging.getLogger("cameo")
    logger.addHandler(handler)
    x = numpy.zeros((2, 3), F32)
    try:
        for level, wanted in ((logging.DEBUG, {"INFO", "DEBUG"}), (logging.INFO, {"INFO"}), (logging.WARNING, set())):
            logger.setLevel(level)
            heard.clear()
            model = cameo.Model(path, device="simulator")
            model(x, x)
            expect_error(ValueError, "input 'b'", lambda model=model: model(x, x[:, :2]))
            expect({name for name, _ in heard} == wanted, f"{level}: {heard}")
            texts = "\n".join(text for _, text in heard)
            expect((f"{path}: simulator image for sm_80" in texts) == (level < logging.WARNING), texts)
            expect(("'a': 2x3xf32, 'b': 2x3xf32: " in texts) == (level == logging.DEBUG), texts)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


@case("numpy")
def an_array_that_is_gone_is_not_read():
    context = compiled(sums()).context()
    a = numpy.ones((2, 3), F32)
    context(a, a.copy())
    expect_error(cameo.InvalidArgumentError, "'b'", lambda: context(a, None))


@case("numpy")
def taps():
    model = compiled(make([("Neg", ["x"], ["a"], {}), ("Exp", ["a"], ["b"], {}), ("Add", ["b", "x"], ["y"], {})],
                          [("x", TensorProto.FLOAT, (4,))], [("y", TensorProto.FLOAT, (4,))]),
                     taps=["n0", "n1"], level=0)
    expect({t.name for t in model.taps} == {"n0", "n1"}, str(model.taps))
    x = numpy.linspace(0, 1, 4, dtype=F32)
    context, seen = model.context(), {}
    context.set_taps(lambda name, value: seen.__setitem__(name, value.copy()))
    y = context(x)
    expect_equal(seen["n0"], -x)
    expect(numpy.allclose(seen["n1"], numpy.exp(-x), rtol=1e-6), "b")
    context.set_taps(lambda name, value: value * 0 if name == "n0" else None)
    expect(numpy.allclose(context(x), x + 1), "a value that is written over")
    context.set_taps(lambda name, value: 1 / 0)
    expect_error(ZeroDivisionError, "", lambda: context(x))
    context.set_taps(lambda name, value: value[:1])
    expect_error(TypeError, "another value must be", lambda: context(x))
    context.set_taps(lambda name, value: context(x) and None)
    expect_error(cameo.BusyError, "in use by another call", lambda: context(x))
    context.set_taps(lambda name, value: 3)
    expect_error(TypeError, "what the callback has returned for tap 'n0': an array was expected", lambda: context(x))
    context.set_taps(None)
    expect_equal(context(x), y)
    expect_error(TypeError, "a function of a name and an array", lambda: context.set_taps(3))
    expect_error(ValueError, "no taps", lambda: compiled(sums()).context().set_taps(print))


@case("numpy")
def profiles_and_benchmarks():
    model = compiled(sums())
    a = numpy.ones((2, 3), F32)
    launches = model.profile(a, a)
    expect({node for launch in launches for node in launch.nodes} == {"n0", "n1"}, str(launches))
    expect(all(launch.duration > 0 and launch.block[0] > 0 for launch in launches), str(launches))
    timing = model.benchmark(a, a, runs=5, warmup=1)
    expect(timing.runs == 5 and 0 < timing.fastest <= timing.median <= timing.slowest, str(timing))


@case("numpy")
def threads():
    model = compiled(sums())
    problems = []

    def work(seed):
        random = numpy.random.default_rng(seed)
        for _ in range(50):
            a, b = random.normal(size=(2, int(random.integers(0, 6)), 3)).astype(F32)
            total, difference = model(a, b)
            if not (numpy.array_equal(total, a + b) and numpy.array_equal(difference, a - b)):
                problems.append(seed)
    running = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    expect(not problems, f"wrong values of threads {problems}")


@case("compile")
def diagnostics():
    unsupported = make([("Relu", ["x"], ["a"], {}), ("Nothing", ["a"], ["b"], {}), ("Nowhere", ["b"], ["y"], {})],
                       [("x", TensorProto.FLOAT, (2,))], [("y", TensorProto.FLOAT, None)])
    error = expect_error(cameo.CompileError, "is not an operator", lambda: cameo.compile(unsupported))
    nodes = [note.where for message in error.diagnostics for note in message.notes]
    expect(nodes == ["n1", "n2"], str(nodes))
    expect_error(cameo.CompileError, "--precision: 'fp12'", lambda: cameo.compile(sums(), precision="fp12"))
    expect_error(cameo.CompileError, "No such file", lambda: cameo.compile("/no/such.onnx"))
    expect_error(ValueError, "needs an output", lambda: cameo.compile(sums(), emit="exe"))
    expect_error(TypeError, "samples are", lambda: cameo.compile(sums(), calibration_data=numpy.zeros(3)))


@case("compile")
def names_in_messages():
    """Files that the package writes for what is in memory are called by what the caller has passed."""
    error = expect_error(cameo.CompileError, "<model>", lambda: cameo.compile(b"none"))
    expect(tempfile.gettempdir() not in str(error) + str(error.diagnostics), str(error))
    external = sums()
    external.graph.initializer.append(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=(3,), data_location=1))
    external.graph.initializer[0].external_data.add(key="location", value="weights")
    external.graph.node[0].input[1] = "w"
    for call in (lambda: cameo.compile(external), lambda: cameo.compile(external.SerializeToString()),
                 lambda: cameo.inspect(external), lambda: cameo.compare(external, {"a": numpy.zeros((1, 3), F32)})):
        error = expect_error(cameo.CompileError, "weights", call)
        expect(tempfile.gettempdir() not in str(error) + str(error.diagnostics), str(error))
    samples = {"x": numpy.zeros((4, 3), F32)}
    expect_error(cameo.CompileError, "<calibration_data>",
                 lambda: cameo.compile(sums(), precision="int8", calibration_data=samples))
    expect_error(cameo.CompileError, "<data>", lambda: cameo.compare(sums(), samples))
    summary = compiled(sums()).compilation.summary[0]
    expect(summary.startswith("<plan>: "), summary)


@case("compile")
def progress():
    steps = []
    compiled(sums(), progress=lambda *step: steps.append(step), level=0)
    expect(steps[-1] == ("kernels for sim:sm_80", 2, 2), str(steps))
    kept, sys.stderr = sys.stderr, io.StringIO()
    try:
        compiled(sums(), progress=True, level=0)
        printed = sys.stderr.getvalue()
    finally:
        sys.stderr = kept
    expect(printed.endswith("kernels for sim:sm_80: 2 of 2\n"), printed)
    steps.clear()

    def stop(*step):
        raise KeyboardInterrupt
    expect_error(KeyboardInterrupt, "", lambda: compiled(sums(), progress=stop))


@case("compile")
def options():
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        model = compiled(sums(), shapes={"N": 4}, level=1, jobs=1, report=report, precision_of={"n0": "fp16"},
                         options=["--remarks"])
        expect(model.inputs[0].shape == (4, 3), str(model.inputs))
        expect("launches" in "".join(model.compilation.summary), str(model.compilation))
        expect(any(m.severity == "remark" for m in model.compilation.diagnostics), str(model.compilation))
        expect(json.loads(report.read_text()), "no report")
        path = Path(folder) / "sums.onnx"
        onnx.save(sums(), path)
        for source in (path, str(path), path.read_bytes()):
            expect(compiled(source, target=["sim:sm_80", "ptx"], shapes={"a": (4, 3)}).inputs[0].shape == (4, 3),
                   "another source")
        expect(compiled(sums(), shapes={"N": None}).inputs[0].shape == ("N", 3), "a size left open")
        apart = make([("Add", ["a", "b"], ["y"], {})], [(name, TensorProto.FLOAT, (None, 3)) for name in "ab"],
                     [("y", TensorProto.FLOAT, None)])
        for shapes in ({"b": ("a.0", 3)}, {"a.0": "b.0"}, {"b": (None, None), "a": ["b.0", 3]}):
            model = compiled(apart, shapes=shapes)
            expect(model.inputs[0].shape[0] == model.inputs[1].shape[0] != None, str(model.inputs))  # noqa: E711


@case("compile")
def inputs_as_constants():
    x = numpy.arange(6, dtype=F32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shape.npy"
        numpy.save(path, numpy.array([2, 3]))
        for value in ((2, 3), [2, 3], numpy.array([2, 3], numpy.int32), path, str(path)):
            model = compiled(reshaped(), shape_values={"shape": value})
            expect([info.name for info in model.inputs] == ["x"], str(model.inputs))
            expect_equal(model(x), -x.reshape(2, 3))
    scaled = make([("Mul", ["x", "s"], ["y"], {})], [("x", TensorProto.FLOAT, (6,)), ("s", TensorProto.FLOAT, ())],
                  [("y", TensorProto.FLOAT, None)])
    for value in (0.25, 3, F32(0.1), numpy.array(-1e-30, F32), float("inf")):
        expect_equal(compiled(scaled, shape_values={"s": value})(x + 1), (x + 1) * F32(value))
    expect_error(cameo.CompileError, "the nearest is 0.100000001490116119384765625",
                 lambda: compiled(scaled, shape_values={"s": 0.1}))
    expect_error(cameo.CompileError, "no input 'z'", lambda: compiled(scaled, shape_values={"z": 1}))
    expect_error(TypeError, "shape_values are a dictionary", lambda: compiled(scaled, shape_values=[1]))
    scaled.graph.initializer.append(onnx.numpy_helper.from_array(numpy.array(2, F32), "s"))
    expect_equal(compiled(scaled)(x), x * 2)
    for names in ("s", ["s"]):
        expect_equal(compiled(scaled, overridable=names)(x, numpy.array(3, F32)), x * 3)
    found = cameo.inspect(reshaped(), shape_values={"shape": [2, 3]})
    expect([port["name"] for port in found["inputs"]] == ["x"], str(found))


@case("compile")
def declared_states():
    """A cache that grows and a sum, step by step; random numbers of a seed."""
    model = make([("Concat", ["past", "x"], ["present"], {"axis": 0}), ("Add", ["held", "x"], ["sum"], {}),
                  ("RandomNormalLike", ["x"], ["noise"], {})],
                 [("x", TensorProto.FLOAT, (1, 3)), ("past", TensorProto.FLOAT, ("P", 3)),
                  ("held", TensorProto.FLOAT, (1, 3))],
                 [("present", TensorProto.FLOAT, None), ("sum", TensorProto.FLOAT, (1, 3)),
                  ("noise", TensorProto.FLOAT, (1, 3))])
    pairs = {"past": "present", "held": "sum"}
    loaded = compiled(model, states=pairs)
    expect({info.name: info.state for info in loaded.inputs if info.state} == pairs, str(loaded.inputs))
    decoder = loaded.context()
    decoder.reserve_state("past", 100)
    decoder.set_seed(7)
    rows = numpy.arange(12, dtype=F32).reshape(4, 3)
    drawn = [decoder(row[None]).tolist() for row in rows]
    expect_equal(decoder.state("past"), rows)
    expect_equal(decoder.state("held"), rows.sum(0, keepdims=True))
    decoder.reset_states()
    expect_error(cameo.InvalidArgumentError, "state 'past': no run has left a value", lambda: decoder.state("past"))
    expect_error(cameo.InvalidArgumentError, "input 'x' is no state", lambda: decoder.state("x"))
    decoder.set_seed(7)
    expect([decoder(row[None]).tolist() for row in rows[:2]] == drawn[:2] and drawn[0] != drawn[1], str(drawn))
    expect_equal(decoder.state("past"), rows[:2])
    names = [info.state for info in compiled(model, states="auto").inputs]
    expect(names == [None, "present", None], str(names))
    expect_error(cameo.CompileError, "'none:sum' is not an input and an output", lambda: compiled(model, states={"none": "sum"}))
    expect_error(TypeError, "states are", lambda: compiled(model, states=["past:present"]))


@case("compile")
def first_values_that_fail():
    """A call that fails takes back the first values that it was given, and states begin anew."""
    model = make([("Concat", ["keys", "x"], ["more_keys"], {"axis": 0}), ("Concat", ["values", "x"], ["more_values"], {"axis": 0}),
                  ("Add", ["more_keys", "more_values"], ["y"], {})],
                 [("x", TensorProto.FLOAT, ("T", 3)), ("keys", TensorProto.FLOAT, ("K", 3)), ("values", TensorProto.FLOAT, ("V", 3))],
                 [(name, TensorProto.FLOAT, None) for name in ("y", "more_keys", "more_values")])
    decoder = compiled(model, states={"keys": "more_keys", "values": "more_values"}).context()
    row = numpy.ones((1, 3), F32)
    for steps in (1, 2):
        expect_equal(decoder(row), numpy.full((steps, 3), 2, F32))
    # Of a wrong type or rank, they change nothing.
    expect_error(TypeError, "'keys'", lambda: decoder.run({"x": row, "keys": numpy.zeros((2, 3))}))
    expect_error(cameo.InvalidArgumentError, "'keys'", lambda: decoder.run({"x": row, "keys": row[0]}))
    expect_equal(decoder(row), numpy.full((3, 3), 2, F32))
    expect_error(cameo.OutOfRangeError, "sizes 10 and 4", lambda: decoder.run({"x": row, "keys": numpy.zeros((9, 3), F32)}))
    for steps in (1, 2):
        expect_equal(decoder(row), numpy.full((steps, 3), 2, F32))
    seven = numpy.full((7, 3), 7, F32)
    made = decoder.run({"x": row, "keys": seven, "values": seven})
    expect_equal(made["y"], numpy.concatenate([2 * seven, 2 * row]))


@case("compile")
def weights_that_differ_at_their_end():
    """Equal weights are stored once; these are equal but for the last number of the second, and the first of the third."""
    model = make([("Mul", ["x", "a"], ["u"], {}), ("Mul", ["x", "b"], ["v"], {}), ("Mul", ["x", "c"], ["w"], {})],
                 [("x", TensorProto.FLOAT, (1,))], [(name, TensorProto.FLOAT, (5000,)) for name in "uvw"])
    weights = {name: numpy.arange(5000, dtype=F32) for name in "abc"}
    weights["b"][-1] = weights["c"][0] = -7
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in weights.items())
    for got, wanted in zip(compiled(model)(numpy.ones(1, F32)), weights.values()):
        expect_equal(got, wanted)


@case("compile")
def inspections():
    found = cameo.inspect(sums())
    expect(found["supported"] and found["open_sizes"] == ["N"] and found["operators"] == {"Add": 1, "Sub": 1} and
           found["inputs"][0] == {"name": "a", "type": "float", "shape": ["N", 3]} and not found["problems"], str(found))
    expect(cameo.inspect(sums(), shapes={"N": 2})["inputs"][1]["shape"] == [2, 3], "a size that is given")
    found = cameo.inspect(make([("Nothing", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, ())],
                               [("y", TensorProto.FLOAT, None)]))
    expect(not found["supported"] and found["inputs"][0]["shape"] == [] and found["outputs"][0]["shape"] is None and
           found["problems"][0].notes[0].where == "n0", str(found))
    expect_error(cameo.CompileError, "No such file", lambda: cameo.inspect("/no/such.onnx"))


@case("compile")
def comparisons():
    x = numpy.random.default_rng(0).normal(size=(16, 3)).astype(F32)
    report = cameo.compare(sums(), {"a": x, "b": x[::-1]}, precision=["fp32", "fp16"])
    expect("fp16" in json.dumps(report), str(report)[:300])
    expect_error(cameo.CompileError, "fp12", lambda: cameo.compare(sums(), {"a": x, "b": x}, precision="fp12"))
    expect(cameo.compare(sums(), {"a": x, "b": x}, device="simulator"), "no report")
    expect(str(compiled(sums(), device="sim").device) == "simulator", "another device")
    expect_error(ValueError, "a device is", lambda: cameo.compare(sums(), {"a": x, "b": x}, device="gpu"))


@case("compile")
def int8_by_arrays():
    weights = numpy.random.default_rng(0).normal(size=(8, 8)).astype(F32)
    model = make([("MatMul", ["x", "w"], ["y"], {})], [("x", TensorProto.FLOAT, ("N", 8))],
                 [("y", TensorProto.FLOAT, None)])
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    samples = numpy.random.default_rng(1).normal(size=(64, 8)).astype(F32)
    steps = []
    quantized = compiled(model, precision="int8", calibration_data={"x": samples}, accuracy="20dB",
                         progress=lambda *step: steps.append(step))
    expect(all(0 <= done <= every for _, done, every in steps), str(steps))
    told = {what for what, _, _ in steps}
    expect({"calibrating", "kernels for sim:sm_80"} <= told, str(told))
    wanted, got = samples @ weights, quantized(samples)
    expect(0 < numpy.abs(got - wanted).max() < 0.1 * numpy.abs(wanted).max(), "not of 8 bits, or wrong")


class OfLibrary:
    """An array of a library that speaks DLPack and is not numpy: this module, which has from_dlpack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def from_dlpack(array):
    return OfLibrary(array)


def on_gpu(model):
    """A model on the fake driver's GPU, which takes the kernels' work from the model's image for the simulator."""
    path = Path(tempfile.mkdtemp()) / "model.plan"
    cameo.compile(model, output=path, target="sm_90a,sim:sm_90a")
    os.environ["FAKECUDA_ARTEFACT"] = str(path)
    return cameo.Model(path, device="cuda:0")


def outputs_on_device(model, *arrays):
    """Outputs in device memory, which the package makes where inputs are there."""
    arrays = list(arrays)
    context = cameo._runtime.Context(model._handle, 0, True)  # pylint: disable=protected-access
    return [OfLibrary(value) for value in context.run(arrays, [None] * len(model.outputs), None, True, 0, False)]


@case("cuda")
def device_memory():
    model = on_gpu(sums())
    expect(str(model.device) == "cuda:0" and model.device.arch == 90, str(model.device))
    a, b = numpy.arange(6, dtype=F32).reshape(2, 3), numpy.full((2, 3), 7, F32)
    expect_equal(model(a, b)[0], a + b)
    here = outputs_on_device(model, a, b)  # a + b and a - b
    expect(here[0].__dlpack_device__() == (2, 0), "no device memory")
    for stream in (None, 2):
        results = model(*here, stream=stream)
        expect(all(isinstance(value, OfLibrary) and value.__dlpack_device__() == (2, 0) for value in results),
               "outputs elsewhere")
        totals = numpy.zeros((2, 3), F32), numpy.zeros((2, 3), F32)
        model(*results, out=totals)
        expect_equal(totals[0], 2 * (a + b))
        expect_equal(totals[1], 2 * (a - b))
    model(a, here[1], out=totals)
    expect_equal(totals[1], b)
    simulated = cameo.compile(sums(), device="simulator", target="sim:sm_90a")
    expect_error(TypeError, "is on cuda:0, the model on simulator", lambda: simulated(*here))


def calls_of_driver(run):
    """What the fake driver was called with meanwhile, a line each."""
    trace = Path(os.environ["FAKECUDA_TRACE"])
    before = trace.stat().st_size
    run()
    return trace.read_text()[before:].splitlines()


@case("cuda")
def no_copies_on_the_device():
    model = on_gpu(sums())
    a, b = numpy.arange(6, dtype=F32).reshape(2, 3), numpy.full((2, 3), 7, F32)
    here, there = outputs_on_device(model, a, b), outputs_on_device(model, a, b)
    calls = calls_of_driver(lambda: model(*here, out=there))
    expect(calls and not any("Memcpy" in line for line in calls), str(calls))
    out = numpy.zeros((2, 3), F32), numpy.zeros((2, 3), F32)
    model(*there, out=out)  # of twice a and twice b
    expect_equal(out[0], 2 * (a + b))


@case("cuda-copies")
def no_copies_on_the_host():
    """The driver reads and writes an array where it is, if it has more than the 64 MiB that the runtime takes through
    page-locked memory."""
    model = on_gpu(make([("Neg", ["x"], ["y"], {})], [("x", TensorProto.FLOAT, ("N",))],
                        [("y", TensorProto.FLOAT, ("N",))]))
    x = numpy.arange(17 << 20, dtype=F32)
    y = numpy.zeros_like(x)
    calls = calls_of_driver(lambda: expect(model(x, out=y) is y, "another array"))
    copies = [line for line in calls if "Memcpy" in line]
    expect(copies == [f"cuMemcpyHtoDAsync_v2 {x.nbytes} B from {x.ctypes.data}",
                      f"cuMemcpyDtoHAsync_v2 {x.nbytes} B to {y.ctypes.data}"], str(copies))
    expect(numpy.array_equal(y, -x), "values")


@case("cuda-values")
def values_read_on_the_host():
    """A shape that is in device memory."""
    nodes = [("Add", ["shape", "shape"], ["twice"], {}), ("Reshape", ["x", "twice"], ["r"], {}),
             ("Neg", ["r"], ["y"], {})]
    model = on_gpu(make(nodes, [("x", TensorProto.FLOAT, ("N",)), ("shape", TensorProto.INT64, (2,))],
                        [("twice", TensorProto.INT64, (2,)), ("y", TensorProto.FLOAT, None)]))
    x = numpy.arange(16, dtype=F32)
    shape = outputs_on_device(model, x, numpy.array([2, 2]))[0]  # 4, 4
    expect(shape.__dlpack_device__() == (2, 0), "no device memory")
    x = numpy.arange(64, dtype=F32)
    out = numpy.zeros(2, numpy.int64), numpy.zeros((8, 8), F32)
    model(x, shape, out=out)
    expect_equal(out[1], -x.reshape(8, 8))


def plans(folder):
    """Models for those who have no onnx."""
    cameo.compile(sums(), output=folder / "sums.plan", target="sim:sm_80")
    for name in ("DOUBLE", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "BOOL"):
        cameo.compile(turned(getattr(TensorProto, name)), output=folder / f"turned-{name}.plan",
                      target="sim:sm_80")


if __name__ == "__main__":
    sys.modules["python_cases"] = sys.modules["__main__"]
    OfLibrary.__module__ = "python_cases"  # whose from_dlpack is there
    import python_life_cases  # noqa: F401 more cases, which need those above
    if sys.argv[1] == "plans":
        plans(Path(sys.argv[2]))
    else:
        main()
