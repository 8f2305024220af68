"""What an artefact's arena takes, by its own --info, beside what is live at once and the sum of all."""
# SPDX-License-Identifier: Apache-2.0
import re
from dataclasses import dataclass

import numpy

import harness

SECONDS = 60
# The arena, of the largest live set.
MOST_WASTE = 1.10
SIZES = (1, 3, 8)
LINE = re.compile(r"^intermediate values: (\d+) B in the arena, (\d+) B of them live at once, "
                  r"(\d+) B in all$", re.MULTILINE)


@dataclass
class Use:
    shapes: str
    arena: int
    live: int
    total: int

    @property
    def waste(self):
        return self.arena / self.live if self.live else 1.0

    def text(self):
        return (f"{self.shapes}: {self.arena:,} B in the arena, {self.live:,} B live at once, "
                f"{self.total:,} B in all; ratio {self.waste:.3f}")


def batches(network):
    """Three sizes where the batch is symbolic."""
    return SIZES if len(network.batches) > 1 else network.batches


def use(artefact, feed):
    """What the artefact says for a feed's shapes: the step, and the figures or None."""
    shapes = ",".join(f"{name}:{'x'.join(map(str, array.shape))}" for name, array in feed.items())
    step = harness.run([artefact, "--info", f"--shapes={shapes}"], SECONDS)
    found = LINE.search(step.output) if step.code == 0 else None
    return step, Use(shapes, *map(int, found.groups())) if found else None


def check(suite, name, network, artefact):
    """Of a network at all its sizes; prints a line for each."""
    for batch in batches(network):
        step, figures = use(artefact, network.inputs(batch, numpy.random.default_rng(batch)))
        case = f"{name}-memory-{batch}"
        if not figures:
            suite.fail(case, f"--info tells no memory: {step.how()}", step)
            continue
        print(f"  memory: {figures.text()}", flush=True)
        if figures.waste > MOST_WASTE:
            suite.fail(case, f"the arena is {figures.waste:.3f} of what is live at once; "
                             f"at most {MOST_WASTE}", step)
        else:
            suite.ok(case)
