"""The same work by torch, beside each benchmark of ours: eager and as a CUDA graph, TF32 off and on.

torch_cases.py JSON, where JSON describes the work: {"matmul": [m, k, n]}, {"conv": {...}} or
{"network": name, "batch": n}; prints {"milliseconds": {...}}."""
# SPDX-License-Identifier: Apache-2.0
import json
import re
import statistics
import sys

import process
from results import Result

SECONDS = 90
RUNS = 40


class TorchCase:
    limit = SECONDS

    def __init__(self, pack, name, work):
        self.pack, self.name, self.work = pack, name, work

    def names(self):
        return [self.name]

    def run(self, seconds):
        if not self.pack.machine.torch:
            reason = "torch: " + self.pack.machine.facts["torch"]
            return [Result(self.name, "skip", message=reason)], []
        ended = process.run([sys.executable, __file__, json.dumps(self.work)], seconds,
                            env=self.pack.environment)
        status = ended.status()
        found = re.search(r'^\{"milliseconds".*$', ended.output, re.MULTILINE)
        if status == "pass" and found:
            data = json.loads(found[0])
            message = ", ".join(f"{k} {v:.4f} ms" for k, v in data["milliseconds"].items())
            return [Result(self.name, status, ended.seconds, message, data=data)], []
        missing = re.search(r"^skip: (.*)$", ended.output, re.MULTILINE)
        if missing:
            return [Result(self.name, "skip", ended.seconds, missing[1])], []
        return [Result(self.name, status if status != "pass" else "fail", ended.seconds,
                       f"{ended.how()}: {ended.first_error()}", ended.output)], []


def work_of(torch, description):
    """A function that does it once."""
    if "matmul" in description:
        m, k, n = description["matmul"]
        a, b = torch.randn(m, k, device="cuda"), torch.randn(k, n, device="cuda")
        return lambda: a @ b
    if "conv" in description:
        c = description["conv"]
        x = torch.randn(c["batch"], c["inputs"], c["size"], c["size"], device="cuda")
        layer = torch.nn.Conv2d(c["inputs"], c["outputs"], c["kernel"], c["stride"],
                                c["kernel"] // 2, groups=c["groups"]).cuda()
        return lambda: layer(x)
    try:
        import torchvision  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("skip: torchvision is not installed")
        sys.exit(0)
    network = getattr(torchvision.models, description["network"])().cuda().eval()
    image = torch.randn(description["batch"], 3, 224, 224, device="cuda")
    return lambda: network(image)


def median_ms(torch, work):
    times = []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def as_graph(torch, work):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def main():
    import torch  # pylint: disable=import-outside-toplevel
    found = {}
    with torch.inference_mode():
        work = work_of(torch, json.loads(sys.argv[1]))
        for label, tf32 in (("fp32", False), ("tf32", True)):
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
            torch.backends.cudnn.benchmark = True
            for _ in range(20):
                work()
            torch.cuda.synchronize()
            found[f"torch eager {label}"] = median_ms(torch, work)
            found[f"torch graph {label}"] = median_ms(torch, as_graph(torch, work))
    print(json.dumps({"milliseconds": found}))


if __name__ == "__main__":
    main()
