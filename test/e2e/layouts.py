#!/usr/bin/env python3
"""Values between kernels stored channels-last wherever that can be: the results that they give as imported, to the
bit where no sum is taken in another order, else within the bound of networks. So every class of kernels is right
under maps that permute, whatever cost decides for FP32."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import sys

from onnx import helper

import batch
import concatenations
import harness
import launches
import modern_networks
import networks
import reference

LAYOUTS = ("as-imported", "channels-last")


def many_concatenations():
    """The graphs of concatenations.py as one model: parts that are views, read by each kind of kernel."""
    entries = []
    for name, make in concatenations.CASES.items():
        entry = make(concatenations.Graph(name))
        for output, value in zip(entry.model.graph.output,
                                 reference.expected(entry.model, entry.feed)):
            output.CopyFrom(helper.make_tensor_value_info(
                output.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        entries.append(entry)
    feed = {f"{i}/{name}": array for i, entry in enumerate(entries)
            for name, array in entry.feed.items()}
    model = batch.merged(entries)
    for i, node in enumerate(model.graph.node):
        node.name += f"-{i}"
    return networks.Network(model, lambda size, random: feed, (1,))


def check(suite, reordered, name, make):
    case = launches.Case(suite, name, make, fixed=False)
    artefacts = {}
    for layout in LAYOUTS:
        step, artefact, _ = case.compile("-O2", [f"--layout={layout}", "--statistics"])
        if step.code:
            return suite.fail(f"{name}-{layout}", harness.first_error(step.output), step)
        artefacts[layout] = artefact.rename(artefact.with_name(layout))
        stored = re.search(r"(\d+) stored", step.output)
    if not stored or int(stored[1]) == 0:
        return suite.fail(f"{name}-stored", "nothing is stored channels-last", step)
    differ = launches.run_alike(suite, case, artefacts)
    if differ is None:
        return None
    print(f"{name}: {stored[1]} results stored channels-last", flush=True)
    if differ and not reordered.explain(name):
        suite.fail(f"{name}-bits", f"{', '.join(sorted(differ))}: other bits than as imported, and "
                   "reordered_sums.txt does not say why")
    else:
        suite.ok(f"{name}-bits")
    return case.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    harness.add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="networks of full size, too")
    options = parser.parse_args()
    suite = harness.Suite("layouts", options.build.resolve())
    reordered = harness.ReorderedSums("layouts")
    cases = {"concatenations": many_concatenations, **modern_networks.SMALL_NETWORKS}
    if options.all:
        cases |= networks.NETWORKS
    for name, make in cases.items():
        if re.search(options.filter, name):
            check(suite, reordered, name, make)
    if options.all and not options.filter:
        reordered.print_unneeded()
    return suite.close()


if __name__ == "__main__":
    sys.exit(main())
