"""Ranges of a model's values, recorded with ONNX Runtime: what cameoc's --ranges reads."""
# SPDX-License-Identifier: Apache-2.0
import json

import numpy
import onnx
import onnxruntime

import harness

SECONDS, BINS = 300, 2048


def normalized(cameoc, source, path):
    """The model whose values INT8 quantises, those of attention among them; None and the step where that fails."""
    step = harness.run([cameoc, source, "-o", path, "--precision=int8", "--stop-after=normalized",
                        "--emit=onnx"], SECONDS)
    return step, onnx.load(path) if step.code == 0 else None


def probe(model):
    """A session that gives every value, and the names of these."""
    every = onnx.ModelProto()
    every.CopyFrom(model)
    known = {output.name for output in model.graph.output}
    names = [name for node in model.graph.node for name in node.output if name]
    every.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names
                              if name not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(every.SerializeToString(), options), names


def values(session, names, feed):
    """Floats that the session computes, and those that it is fed."""
    found = {**feed, **dict(zip(names, session.run(names, feed)))}
    return {name: array for name, array in found.items()
            if array.dtype == numpy.float32 and array.size}


def percentile(histogram, magnitude, share):
    """The magnitude that so many of the elements do not exceed."""
    place = numpy.searchsorted(numpy.cumsum(histogram), share * histogram.sum())
    return float((place + 1) / BINS * magnitude)


def record(model, feeds, method="max", share=0.9999):
    """The file's contents, over all feeds: the method is "max" or "percentile"."""
    session, names = probe(model)
    ranges, histograms = {}, {}
    for feed in feeds:
        for name, array in values(session, names, feed).items():
            least, most = float(array.min()), float(array.max())
            before = ranges.get(name, {"min": least, "max": most})
            ranges[name] = {"min": min(before["min"], least), "max": max(before["max"], most)}
    for feed in feeds if method != "max" else []:
        for name, array in values(session, names, feed).items():
            most = max(-ranges[name]["min"], ranges[name]["max"])
            counts, _ = numpy.histogram(numpy.abs(array), BINS, (0, most or 1))
            histograms[name] = histograms.get(name, 0) + counts
    for name, histogram in histograms.items():
        most = max(-ranges[name]["min"], ranges[name]["max"])
        if most:
            ranges[name].update(method=method, thresholds={
                "max": most, "percentile": percentile(histogram, most, share)})
    return {"cameo_ranges": 1, "ranges": ranges}


def write(path, *arguments, **keywords):
    path.write_text(json.dumps(record(*arguments, **keywords)))
    return path
