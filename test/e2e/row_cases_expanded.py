"""Cases of operators that are written as others: transforms, windows, losses, positions, updates of a cache."""
# SPDX-License-Identifier: Apache-2.0
import numpy
from onnx import TensorProto

from difference import Difference, differs, ints
from row_cases import F16, F32, F64, I32, I64, Case, Fixed, fixed, normal, operator, scalar, whole
from spec_kinds import (anything, at_least, crop_sizes, each_at_least, gram_count, gram_lengths, gram_pool, gram_starts,
                        grid_sizes, signal_axis, words)

# --- transforms


@operator("DFT", axis=signal_axis)
def dft(name, version):
    by_input = version >= 20

    def case(label, x, axis, length=None, **attributes):
        inputs = [x, scalar(length, I64) if length else None]
        if by_input:
            inputs.append(scalar(axis, I64))
        else:
            attributes["axis"] = axis
        while inputs[-1] is None:
            inputs.pop()
        return Case(label, inputs, attributes)

    yield case("real", normal(2, 8, 1), 1)
    yield case("complex", normal(3, 12, 2), 1)
    yield case("inverse", normal(2, 6, 2), 1, inverse=1)
    yield case("one-sided", normal(2, 9, 1), 1, onesided=1)
    yield case("axis-0", normal(5, 3, 1), 0)
    yield case("inner-axis", normal(2, 5, 3, 2), 1)
    yield case("padded", normal(2, 5, 1), 1, length=8)
    yield case("cut", normal(2, 9, 2), 1, length=6)
    # Above the length that one table is taken for.
    yield case("long", normal(1, 600, 1), 1)
    yield case("long-one-sided", normal(1, 520, 1), 1, onesided=1)
    yield case("long-inverse", normal(1, 525, 2), 1, inverse=1)
    yield case("float64", normal(2, 8, 1, dtype=F64), 1)


@operator("STFT")
def stft(name, version):
    yield Case("one-sided", [normal(2, 32, 1), scalar(4, I64), None, scalar(8, I64)])
    yield Case("two-sided", [normal(2, 30, 1), scalar(3, I64), None, scalar(7, I64)], {"onesided": 0})
    yield Case("window", [normal(1, 32, 1), scalar(8, I64), Fixed(normal(16))])
    yield Case("given-window", [normal(1, 32, 1), scalar(8, I64), normal(16), scalar(16, I64)])
    yield Case("complex", [normal(1, 24, 2), scalar(6, I64), Fixed(normal(8))], {"onesided": 0})


@operator("HannWindow", "HammingWindow", "BlackmanWindow")
def window(name, version):
    yield Case("periodic", [scalar(10, I64)])
    yield Case("symmetric", [scalar(11, I32)], {"periodic": 0})
    yield Case("float64", [scalar(9, I64)], {"output_datatype": 11})


@operator("MelWeightMatrix")
def mel_weights(name, version):
    # Small enough for every type.
    yield Case("few", [scalar(4, I64), scalar(32, I64), scalar(60, I64), scalar(0), scalar(28)])
    yield Case("bands", [scalar(8, I64), scalar(64, I64), scalar(8192, I64), scalar(0), scalar(4000)])
    yield Case("few-bins", [scalar(6, I32), scalar(16, I32), scalar(8000, I32), scalar(10), scalar(3900)])
    yield Case("double", [scalar(4, I64), scalar(32, I64), scalar(60, I64), scalar(0), scalar(28)],
               {"output_datatype": TensorProto.DOUBLE})


# --- losses

def weighted(name, version, scores):
    classes = scores.shape[1]
    target = whole(0, classes, scores.shape[0], *scores.shape[2:])
    for reduction in ("none", "sum", "mean"):
        yield Case(reduction, [scores, target], {"reduction": reduction})
        yield Case(f"{reduction}-weights", [scores, target, Fixed(numpy.abs(normal(classes)) + F32(0.1))],
                   {"reduction": reduction})
    ignored = target.copy()
    ignored.flat[::3] = -1
    yield Case("ignored", [scores, ignored], {"ignore_index": -1})
    yield Case("ignored-weights", [scores, ignored, numpy.abs(normal(classes)) + F32(0.1)],
               {"ignore_index": -1, "reduction": "sum"})
    yield Case("ignored-class", [scores, target.astype(I32)], {"ignore_index": 1, "reduction": "none"})


@operator("NegativeLogLikelihoodLoss")
def likelihood(name, version):
    yield from weighted(name, version, normal(3, 5))
    yield Case("images", [normal(2, 4, 3, 5), whole(0, 4, 2, 3, 5)])


@operator("SoftmaxCrossEntropyLoss")
def cross_entropy(name, version):
    yield from weighted(name, version, normal(3, 5))
    yield Case("images", [normal(2, 4, 3, 5), whole(0, 4, 2, 3, 5)])
    yield Case("logarithms", [normal(2, 4, 3), whole(0, 4, 2, 3)], outputs=2)


# --- positions

@operator("AffineGrid", inputs={"size": grid_sizes})
def affine_grid(name, version):
    for corners in (0, 1):
        yield Case(f"images-{corners}", [normal(2, 2, 3), fixed(2, 3, 4, 5)], {"align_corners": corners})
        yield Case(f"volumes-{corners}", [normal(1, 3, 4), fixed(1, 2, 3, 2, 4)], {"align_corners": corners})


@operator("RotaryEmbedding")
def rotary(name, version):
    yield Case("positions", [normal(2, 3, 4, 8), normal(10, 4), normal(10, 4), whole(0, 10, 2, 4)])
    yield Case("tokens", [normal(2, 3, 4, 8), normal(2, 4, 4), normal(2, 4, 4)])
    yield Case("interleaved", [normal(2, 3, 4, 8), normal(10, 4), normal(10, 4), whole(0, 10, 2, 4)],
               {"interleaved": 1})
    yield Case("part", [normal(2, 3, 4, 8), normal(10, 2), normal(10, 2), whole(0, 10, 2, 4)],
               {"rotary_embedding_dim": 4})
    yield Case("heads", [normal(2, 4, 24), normal(10, 4), normal(10, 4), whole(0, 10, 2, 4)], {"num_heads": 3})
    yield Case("heads-interleaved-part", [normal(2, 4, 24), normal(10, 3), normal(10, 3), whole(0, 10, 2, 4)],
               {"num_heads": 3, "interleaved": 1, "rotary_embedding_dim": 6})
    yield Case("float16", [normal(1, 2, 4, 8, dtype=F16), normal(10, 4, dtype=F16), normal(10, 4, dtype=F16),
                           whole(0, 10, 1, 4)])


@operator("CenterCropPad", inputs={"shape": crop_sizes})
def crop_or_pad(name, version):
    yield Case("crop", [normal(7, 8), fixed(4, 3)])
    yield Case("pad", [normal(4, 3), fixed(7, 8)])
    yield Case("both", [normal(3, 9, 4), fixed(6, 4, 4, dtype=I32)])
    yield Case("axes", [normal(2, 9, 5), fixed(4, 8)], {"axes": [1, -1]})
    yield Case("given", [normal(2, 9, 5), numpy.array([4, 8])], {"axes": [1, 2]})


@operator("Col2Im")
def columns_to_image(name, version):
    yield Case("blocks", [normal(1, 5, 5), fixed(5, 5), fixed(1, 5)])
    yield Case("overlaps", [normal(2, 12, 9), fixed(4, 5), fixed(2, 3)])
    yield Case("strides", [normal(1, 8, 9), fixed(6, 7), fixed(2, 2)], {"strides": [2, 2]})
    yield Case("pads", [normal(1, 9, 12), fixed(4, 3), fixed(3, 3)], {"pads": [1, 1, 1, 1]})
    yield Case("dilations", [normal(1, 4, 12), fixed(6, 5), fixed(2, 2)], {"dilations": [2, 2]})
    yield Case("volume", [normal(1, 16, 8), fixed(3, 3, 3), fixed(2, 2, 2)])


@operator("Det")
def determinant(name, version):
    for size in (1, 2, 3, 4):
        yield Case(f"of-{size}", [normal(3, size, size)])
    yield Case("alone", [normal(3, 3)])


# --- words

@operator("TfIdfVectorizer", min_gram_length=at_least(1), max_gram_length=gram_lengths, max_skip_count=at_least(0),
          ngram_counts=gram_starts, ngram_indexes=each_at_least(0, gram_count), mode=words("TF"), pool_int64s=gram_pool,
          pool_strings=anything, weights=anything)
def tf_idf_vectorizer(name, version):
    pool = {"ngram_counts": [0, 4, 10], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 2, 3, 2],
            "ngram_indexes": [0, 1, 2, 3, 4, 5, 6, 7]}

    def case(label, *shape, least=1, most=2, skips=0, mode="TF", dtype=I64, **attributes):
        return Case(label, [whole(2, 9, *shape, dtype=dtype)],
                    {"min_gram_length": least, "max_gram_length": most, "max_skip_count": skips, "mode": mode,
                     **pool, **attributes})

    weights = {"weights": [2.0, 0.5, -1.0, 3.0, 1.5, 0.25, 4.0, 1.0]}
    yield case("words", 3, 40, most=1)
    yield case("pairs", 3, 40, least=2)
    yield case("triples", 2, 60, least=3, most=3, skips=2, dtype=I32)
    yield case("skips", 2, 50, most=3, skips=5)
    yield case("skips-beyond", 2, 4, least=2, most=3, skips=5)
    yield case("row", 60, most=3, skips=1, dtype=I32)
    yield case("short", 3, 1)
    yield case("order", 2, 50, most=3, ngram_indexes=[7, 0, 6, 1, 5, 2, 4, 3])
    yield case("gaps", 2, 50, most=3, ngram_indexes=[9, 0, 6, 1, 5, 2, 4, 3])
    yield case("shared", 2, 50, most=3, ngram_indexes=[2, 0, 2, 1, 1, 2, 3, 0])
    for mode in ("IDF", "TFIDF"):
        yield case(mode, 2, 12, most=3, mode=mode)
        yield case(f"{mode}-weights", 3, 12, most=3, mode=mode, skips=1, **weights)
    yield case("weights-shared", 2, 30, most=3, mode="TFIDF", ngram_indexes=[2, 0, 2, 1, 1, 2, 3, 0], **weights)


@differs
def word_differences():
    yield Difference("TfIdfVectorizer with `weights`", "TfIdfVectorizer", [ints(4, 3, 4)], "onnxruntime",
                     {"mode": "TFIDF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0,
                      "ngram_counts": [0], "ngram_indexes": [1, 0], "pool_int64s": [3, 4], "weights": [0.5, 2.0]})
