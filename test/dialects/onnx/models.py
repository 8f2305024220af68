# SPDX-License-Identifier: Apache-2.0
"""What the checks of importer and exporter share: running the tools and ONNX Runtime, comparing."""
import pathlib
import subprocess

import numpy as np
import onnx
import onnx.reference
import onnxruntime


TRANSLATE = str(pathlib.Path(__file__).resolve().parents[3] / "build" / "bin" / "cameo-translate")


class Failed(Exception):
    pass


class NotRun(Exception):
    """No reference runs a model: nothing can be compared."""


NOT_IMPLEMENTED = onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented


class Converter:
    """One cameo-translate that imports and exports file after file; a new one where it crashed."""

    def __init__(self, translate):
        self.command = [translate, "--convert-onnx-files"]
        self.process = None

    def convert(self, model_path, out_path):
        """Raises Failed with the diagnostics."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True)
        self.process.stdin.write("%s\t%s\n" % (model_path, out_path))
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            code = self.process.wait()
            self.process = None
            raise Failed("cameo-translate crashed: exit code %d" % code)
        if answer != "ok":
            raise Failed(answer[:400])


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # As written: what the optimiser makes of a model is not the question.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run_both(before, after, feed):
    """The results of the model in the file `before`, again, and of the one in `after`, by ONNX Runtime, or
    by onnx's own evaluator where ONNX Runtime lacks an operator or a type of either; raises NotRun where
    neither runs the first, Failed where what runs the first does not run the second."""
    try:
        first = session(before)
        expected, again = first.run(None, feed), first.run(None, feed)
        try:
            return expected, again, session(after).run(None, feed)
        except NOT_IMPLEMENTED:
            pass  # the first took a version of the operator that it has
        except Exception as error:
            raise Failed("ONNX Runtime: %s" % error) from error
    except Failed:
        raise
    except Exception:  # it lacks the operator or the type
        pass
    if any(node.op_type == "RoiAlign" for node in onnx.load(before).graph.node):
        raise NotRun("onnx's evaluator has RoiAlign as of opset 16 alone")
    try:
        first = onnx.reference.ReferenceEvaluator(str(before))
        expected, again = first.run(None, feed), first.run(None, feed)
    except Exception as error:
        raise NotRun(str(error)) from error
    try:
        return expected, again, onnx.reference.ReferenceEvaluator(str(after)).run(None, feed)
    except Exception as error:
        raise Failed("onnx's evaluator: %s" % error) from error


def as_ort(value):
    """A value that ONNX Runtime takes: its Python interface lacks NumPy's extra types."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "V":
        raise Failed("element type")
    return value


def same(a, b, rtol=1e-5, atol=1e-6):
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(same, a, b))
    if a is None or b is None:
        return a is b
    if isinstance(a, dict):
        return a == b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))
    return bool(np.array_equal(a, b))


def load_value(path, type_proto):
    """Reads one input of a node test."""
    kind = type_proto.WhichOneof("value")
    data = pathlib.Path(path).read_bytes()
    if kind == "sequence_type":
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(data)
        return onnx.numpy_helper.to_list(sequence)
    if kind == "optional_type":
        optional = onnx.OptionalProto()
        optional.ParseFromString(data)
        return onnx.numpy_helper.to_optional(optional)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(data)
    return onnx.numpy_helper.to_array(tensor)
