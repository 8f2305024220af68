#!/usr/bin/env python3
"""Full-size networks against ONNX Runtime: max|difference| <= B x max|reference|, per output.

Each network is compiled once and its artefact run at every batch size: one network for every
architecture, one for four, the others for one, unless --target says for which. The bound B is three times what is
measured of the network in FP32; NaN never passes. No
kernel may spill registers on any architecture, and no arena may exceed 1.10 times what is live at once,
at three sizes where the batch is symbolic.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import re
import sys

import numpy
import onnx
import onnxruntime

import harness
import memory
import modern_networks
import networks
import payload

TOLERANCE = 2e-5  # of networks that TOLERANCES does not have
# Three times what is measured, or a little more.
TOLERANCES = {
    "resnet50": 6e-5,  # seeded weights of whose sums the rests are small
    "mobilenet_v2": 2e-5,
    "light_resnet50": 8e-5,  # 2.7e-5; of other inputs up to 5.5e-5, and ONNX Runtime's own 5.3e-5 as it optimises
    "densenet121": 4e-6,
    "squeezenet": 3e-6,  # 1.0e-6 where ONNX Runtime's own differ by 6.3e-7 as it optimises, which the processor decides
    "inception_v1": 1e-6,
    "inception_v2": 1e-4,  # 7.3e-5 at -O0; ONNX Runtime's own differ by 4.5e-5 as it optimises
    "vit_b16": 5e-6,
    "bert_base": 1.2e-5,
    "efficientnet_b0": 6e-6,
    "convnext_t": 2.4e-6,
    "gpt": 1.2e-6,
    "deeplab_head": 2e-6,
    "swin": 1.2e-6,
    "unet": 2e-5,
}
COMPILE_SECONDS, RUN_SECONDS = 600, 900
ARCHITECTURES = ("sm_80", "sm_75", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_120")
# A network of convolutions for all of them, one of products for those whose matrix instructions differ, and the latest.
FOR_MORE = {"squeezenet": ARCHITECTURES, "bert_base": ("sm_80", "sm_75", "sm_90a", "sm_120")}


def compare(outputs, references, tolerance=TOLERANCE):
    """None, or why they differ; and the largest ratio. Results of FP16 may be rounded to either neighbour."""
    worst = 0.0
    for name, reference in references.items():
        if outputs[name].shape != reference.shape:
            return f"{name} has shape {outputs[name].shape}, not {reference.shape}", worst
        if reference.dtype.kind != "f":
            if not numpy.array_equal(outputs[name], reference):
                return f"{name} has other values", worst
            continue
        # Results of FP16 may be rounded to either neighbour.
        steps = numpy.finfo(reference.dtype).eps if reference.dtype == numpy.float16 else 0
        limit = max(tolerance, steps) * numpy.abs(reference).max().astype(numpy.float64)
        difference = numpy.abs(outputs[name] - reference).max()
        if not difference <= limit:
            return f"{name}: max|difference| {difference:.3e} exceeds {limit:.3e}", worst
        worst = max(worst, difference / limit * tolerance)
    return None, worst


def target_of(architectures):
    """What a network is compiled for: these, or one."""
    if not architectures:
        return "sm_80,sim:sm_80"
    return ",".join([*architectures, "ptx", *(f"sim:{name}" for name in architectures)])


def different_images(artefact):
    """Architectures whose simulator images differ, one for each image; sm_80 for its own."""
    info = harness.run([artefact, "--info"], 60)
    images = dict(re.findall(r"simulator image for (sm_\w+),.*, xxh3 (\w+)$", info.output,
                             re.MULTILINE))
    seen = {}
    for name in ARCHITECTURES:
        if name in images:
            seen.setdefault(images[name], name)
    return list(seen.values())


def check(suite, name, network, options):
    work = suite.work / name
    work.mkdir(exist_ok=True)
    path, artefact = work / "model.onnx", work / "model"
    onnx.save(network.model, path)
    report = work / "report.json"
    flags = harness.compile_flags(options)
    if not options.target:
        flags[0] = f"--target={target_of(ARCHITECTURES if options.long else FOR_MORE.get(name, ()))}"
    compiled = harness.run([suite.tool("cameoc"), path, "-o", artefact, f"--report={report}",
                            *flags], COMPILE_SECONDS)
    if compiled.code != 0:
        suite.fail(f"{name}-compile", f"{compiled.how()}: {harness.first_error(compiled.output)}",
                   compiled)
        return
    beyond = payload.Payload(artefact).size_beyond_code_and_weights()
    print(f"{name}: model {path.stat().st_size / 1e6:.1f} MB, compiled in {compiled.seconds:.1f} s "
          f"with {compiled.peak_bytes / 1e6:.0f} MB, artefact {artefact.stat().st_size / 1e6:.1f} MB, "
          f"of which {beyond / 1e6:.2f} MB are neither weights nor kernels", flush=True)
    if beyond > payload.MOST_BEYOND and not options.instrumented:
        suite.fail(f"{name}-size", f"{beyond} B are neither weights nor kernels", compiled)
    reason = harness.gate(options.build, artefact, report)
    if reason:
        suite.fail(f"{name}-kernels", reason, compiled)
    else:
        suite.ok(f"{name}-kernels")
    memory.check(suite, name, network, artefact)
    resources = json.loads(report.read_text())["resources"]
    if resources:
        print(f"  {len(resources)} kernels assembled; at most "
              f"{max(kernel['registers'] for kernel in resources)} registers and "
              f"{max(kernel['shared_bytes'] for kernel in resources)} B of shared memory",
              flush=True)
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    architectures = different_images(artefact) if options.device == "sim" else []
    if not architectures and options.device == "sim":
        suite.fail(f"{name}-info", "--info names no simulator image", compiled)
    print(f"  simulated: {', '.join(architectures)}", flush=True)
    for batch in network.batches:
        feed = network.inputs(batch, numpy.random.default_rng(batch))
        references = dict(zip(names, session.run(names, feed)))
        command = []
        for number, (key, array) in enumerate(feed.items()):
            numpy.save(work / f"input_{number}.npy", array)
            command.append(f"--input={key}=@{work / f'input_{number}.npy'}")
        command += [f"--output={key}=@{work / f'output_{number}.npy'}"
                    for number, key in enumerate(names)]
        # Every architecture's kernels at one batch size, the first one's at all.
        runs = [[*flags, *([f"--arch={architecture}"] if architecture else [])]
                for architecture in (architectures if batch == network.batches[0] else
                                     architectures[:1]) or [""]
                for flags in harness.run_flags(options)]
        for flags in runs:
            step = harness.run([artefact, *flags, *command], RUN_SECONDS)
            case = "-".join([name, "batch", str(batch), *flags[1:]])
            if step.code != 0:
                suite.fail(case, f"{step.how()}: {harness.first_error(step.output)}", compiled,
                           step)
                continue
            outputs = {key: numpy.load(work / f"output_{number}.npy")
                       for number, key in enumerate(names)}
            reason, ratio = compare(outputs, references, TOLERANCES.get(name, TOLERANCE))
            if reason:
                suite.fail(case, reason, compiled, step)
                continue
            suite.ok()
            print(f"  batch {batch}, {flags[-1]}: {step.seconds:.1f} s, max|difference| is "
                  f"{ratio:.1e} of max|reference|", flush=True)
    for file in work.iterdir():
        file.unlink()


def check_memory(suite, name, network):
    """Compiles for PTX, which is all that the figures need."""
    path, artefact = suite.work / f"{name}.onnx", suite.work / name
    onnx.save(network.model, path)
    compiled = harness.run([suite.tool("cameoc"), path, "-o", artefact, "--target=ptx"],
                           COMPILE_SECONDS)
    if compiled.code != 0:
        suite.fail(f"{name}-compile", f"{compiled.how()}: {harness.first_error(compiled.output)}",
                   compiled)
        return
    print(name, flush=True)
    memory.check(suite, name, network, artefact)
    path.unlink()
    artefact.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.set_defaults(target="")
    parser.add_argument("--long", action="store_true", help="more networks, all for every architecture")
    parser.add_argument("--memory", action="store_true",
                        help="only print what the arenas take, and run nothing")
    parser.add_argument("--instrumented", action="store_true",
                        help="the build is a sanitizer's, whose stub is larger than what is shipped")
    parser.add_argument("--save", metavar="FOLDER", type=harness.Path,
                        help="only write the networks as FOLDER/NAME.onnx")
    options = parser.parse_args()
    chosen = {**networks.NETWORKS, **({**networks.LONG_NETWORKS, **modern_networks.FULL_NETWORKS}
                                      if options.long else {})}
    chosen = {name: make for name, make in chosen.items() if re.search(options.filter, name)}
    if options.save:
        for name, make in chosen.items():
            onnx.save(make().model, options.save / f"{name}.onnx")
        return 0
    suite = harness.Suite("models", options.build.resolve())
    for name, make in chosen.items():
        if options.memory:
            check_memory(suite, name, make())
        else:
            check(suite, name, make(), options)
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
