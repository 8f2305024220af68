"""The demo: compiles the trained network into one executable file, classifies images of the test
set with it, and shows what came out. tools/run-demo builds everything and then runs this.

    examples/fashion/demo.py [--images=2000] [--batch=250] [--device=auto] [--gpu=sm_90a:h200]
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy

import fashion_data

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
CALIBRATION = 512  # training images


def from_here(path):
    """As one would type it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def call(*command):
    """Runs a command for all to see; its failure ends the demo."""
    print(f"$ {shlex.join(map(str, command))}", flush=True)
    result = subprocess.run([str(word) for word in command], check=False)
    if result.returncode:
        sys.exit(f"error: {command[0]} ended with exit code {result.returncode}")


def classify(artefact, images, batch, device):
    """The logits of all images, `batch` at a time, and the seconds it took."""
    given, answer = artefact.parent / "batch.npy", artefact.parent / "out.npy"
    logits, seconds = [], 0.0
    for first in range(0, len(images), batch):
        numpy.save(given, images[first:first + batch])
        answer.unlink(missing_ok=True)
        command = [str(artefact), f"--device={device}", f"--input=image=@{given}",
                   f"--output=logits=@{answer}"]
        start = time.monotonic()
        # Only the first batch says where it runs: the others would say the same.
        result = subprocess.run(command, stderr=None if first == 0 else subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True, check=False)
        seconds += time.monotonic() - start
        if result.returncode:
            sys.exit(f"error: {shlex.join(command)} ended with exit code {result.returncode}\n"
                     f"{result.stdout}{result.stderr or ''}")
        logits.append(numpy.load(answer))
    return numpy.concatenate(logits), seconds


def probabilities(logits):
    scores = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def show_predictions(logits, labels, count):
    likely = probabilities(logits[:count])
    print(f"\n{'image':>5}  {'predicted':<12} {'probability':>11}  is")
    for index in range(count):
        best = likely[index].argmax()
        print(f"{index:>5}  {fashion_data.LABELS[best]:<12} {likely[index, best]:>11.3f}  "
              f"{fashion_data.LABELS[labels[index]]}{'' if best == labels[index] else '   (!)'}")


def contact_sheet(path, images, predicted, labels, columns=14):
    """Images with the predicted label below; a wrong one in red with the right label."""
    from PIL import Image, ImageDraw
    scale, width, height = 3, 100, 112
    rows = (len(images) + columns - 1) // columns
    sheet = Image.new("RGB", (columns * width, rows * height), "white")
    draw = ImageDraw.Draw(sheet)
    for index, image in enumerate(images):
        left, top = index % columns * width, index // columns * height
        pixels = Image.fromarray((255 - image[0] * 255).astype(numpy.uint8))
        sheet.paste(pixels.resize((28 * scale, 28 * scale)), (left + 8, top + 2))
        right = predicted[index] == labels[index]
        text = fashion_data.LABELS[predicted[index]]
        if not right:
            text += f"\n(is {fashion_data.LABELS[labels[index]]})"
        draw.text((left + 8, top + 86), text, fill="darkgreen" if right else "red", spacing=0)
    sheet.save(path)


def compare_precisions(folder, images, labels, batch, gpu="sm_80", tools=BUILD / "bin"):
    """The network in FP32, FP16 and INT8, calibrated with training images, side by side: a report.
    Times are estimates for a GPU, as cameoc's --target names it."""
    training, _ = fashion_data.load("train")
    chosen = numpy.random.default_rng(1).permutation(len(training))[:CALIBRATION]
    numpy.savez(folder / "training.npz", image=training[chosen])
    numpy.savez(folder / "test.npz", image=images)
    numpy.save(folder / "labels.npy", labels)
    model, tools = from_here(HERE / "fashion.onnx"), from_here(tools)
    ranges, report = folder / "ranges.json", folder / "precisions.json"
    call(tools / "cameoc", model, "-o", ranges, "--emit=ranges",
         f"--calibration-data={folder / 'training.npz'}", f"--calibration-batch={batch}")
    call(tools / "cameo-compare", model, "--precision=fp32,fp16,int8", f"--ranges={ranges}",
         f"--data={folder / 'test.npz'}", f"--labels={folder / 'labels.npy'}",
         f"--batch={batch}", f"--estimate={gpu}", "--values=", f"--report={report}")
    return json.loads(report.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=2000, help="how many of the 10,000")
    parser.add_argument("--batch", type=int, default=250, help="images per run of the executable")
    parser.add_argument("--device", default="auto", help="auto, cuda or sim")
    parser.add_argument("--gpu", default="sm_80",
                        help="whose time is estimated: sm_80 (an A100), sm_90a:h200, sm_89:l4, ...")
    parser.add_argument("--folder", type=Path, default=BUILD / "demo", help="where results go")
    parser.add_argument("--tools", type=Path, default=BUILD / "bin", help="where cameoc and cameo-compare are")
    options = parser.parse_args()
    folder, tools = from_here(options.folder.resolve()), from_here(options.tools.absolute())
    folder.mkdir(parents=True, exist_ok=True)
    artefact = folder / "fashion"

    call(tools / "cameoc", from_here(HERE / "fashion.onnx"), "-o", artefact)
    images, labels = fashion_data.load("test")
    images, labels = images[:options.images], labels[:options.images]
    print(f"\nclassifying {len(images)} test images, {options.batch} at a time", flush=True)
    logits, seconds = classify(artefact, images, options.batch, options.device)
    show_predictions(logits, labels, 12)
    predicted = logits.argmax(axis=1)
    print(f"\n{len(images)} images in {seconds:.1f} s")
    print(f"accuracy: {100.0 * (predicted == labels).mean():.2f} %")
    sheet = folder / "contact-sheet.png"
    contact_sheet(sheet, images[:126], predicted, labels)
    print(f"the first {len(images[:126])} with their predictions: {sheet}\n\n"
          f"in lower precisions, INT8 calibrated with {CALIBRATION} training images", flush=True)
    compare_precisions(folder, images, labels, options.batch, options.gpu, tools)
    numpy.save(folder / "batch.npy", images[:1])
    print(f"\n{artefact} is all that another machine needs. Try:\n"
          f"  {artefact} --info\n"
          f"  {artefact} --input=image=@{folder / 'batch.npy'} --benchmark")


if __name__ == "__main__":
    main()
