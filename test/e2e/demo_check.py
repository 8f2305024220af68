#!/usr/bin/env python3
"""The demo's network against ONNX Runtime on 1,000 test images: the same class wherever ONNX
Runtime's margin exceeds 1e-3, and an accuracy that shows a trained network; in FP16 and in INT8 almost
the same one, by kernels that compute in these."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import subprocess
import sys

import numpy
import onnxruntime

import harness

sys.path.insert(0, str(harness.SOURCE / "examples" / "fashion"))
import demo  # pylint: disable=wrong-import-position
import fashion_data  # pylint: disable=wrong-import-position

TOLERANCE = 1e-5  # 2.5e-7 is measured
IMAGES, BATCH, MARGIN, MIN_ACCURACY = 1000, 250, 1e-3, 0.90


def check_precisions(suite):
    """FP16 within 0.1 points of FP32, INT8 within 0.3."""
    images, labels = (array[:2 * IMAGES] for array in fashion_data.load("test"))
    try:
        report = demo.compare_precisions(suite.work, images, labels, BATCH)
    except (SystemExit, OSError) as error:
        suite.fail("precisions", str(error))
        return
    full, half, byte = report["sides"]
    times = [{each["board"]: each["microseconds"] for each in side["estimates"]}
             for side in report["sides"]]
    if [list(each) for each in times] != 3 * [["a100-40"]] or report["batch"] != BATCH:
        suite.fail("estimates", f"{times} of a run of {report['batch']}")
    elif not times[0]["a100-40"] > times[1]["a100-40"] > 0:
        suite.fail("estimates", f"FP16 is not estimated to be faster: {times}")
    else:
        suite.ok()
    for side, points, most_wide in ((half, 0.1, 1), (byte, 0.3, 3)):
        lost = 100 * (full["right"] - side["right"]) / report["rows"]
        wide = side["launches"] - side["kernels"].get(side["name"], 0)
        if abs(lost) > points:
            suite.fail(side["name"], f"{lost:.2f} points lost, more than {points}")
        elif side["launches"] > full["launches"] or wide > most_wide:
            suite.fail(side["name"], f"{side['launches']} launches, {wide} of them wider")
        else:
            suite.ok()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    suite = harness.Suite("demo", options.build.resolve())
    artefact = suite.work / "fashion"
    compiled = harness.run([suite.tool("cameoc"), demo.HERE / "fashion.onnx", "-o", artefact,
                            f"--target={options.target}"], 120)
    if compiled.code:
        suite.fail("compile", harness.first_error(compiled.output), compiled)
        return suite.close()
    suite.ok()

    images, labels = fashion_data.load("test")
    images, labels = images[:IMAGES], labels[:IMAGES]
    session = onnxruntime.InferenceSession(demo.HERE / "fashion.onnx")
    reference, = session.run(None, {"image": images})
    # Another batch size in the last run: 1,000 is not a multiple of 300.
    for batch in (BATCH, 300):
        try:
            logits, seconds = demo.classify(artefact, images, batch, options.device)
        except (SystemExit, subprocess.SubprocessError, OSError) as error:
            suite.fail(f"batch-{batch}", str(error))
            continue
        ordered = numpy.sort(reference, axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > MARGIN
        differ = (logits.argmax(1) != reference.argmax(1)) & clear
        accuracy = (logits.argmax(1) == labels).mean()
        error = numpy.abs(logits - reference).max()
        print(f"batches of {batch}: accuracy {100 * accuracy:.2f} %, max|difference| {error:.2e}, "
              f"{clear.sum()} images with a clear margin, {seconds:.1f} s")
        # `not <=` so that NaN fails too.
        if logits.shape != reference.shape or not error <= TOLERANCE * numpy.abs(reference).max():
            suite.fail(f"batch-{batch}", f"max|difference| is {error:.2e}")
        elif differ.any() or clear.sum() < 900:
            suite.fail(f"batch-{batch}", f"another class for images {numpy.flatnonzero(differ)}")
        elif accuracy < MIN_ACCURACY:
            suite.fail(f"batch-{batch}", f"accuracy {accuracy:.4f} is below {MIN_ACCURACY}")
        else:
            suite.ok()
    check_precisions(suite)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
