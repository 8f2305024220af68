"""What torch does beside our work: products by cuBLAS, convolutions and recurrent layers by cuDNN, networks of both."""
# SPDX-License-Identifier: Apache-2.0


class Torch:
    """torch on the GPU. A work is described as {"type": "fp16", ...} with one of
    "matmul": [m, k, n]; "conv": {"batch", "inputs", "outputs", "size", "kernel", "stride", "groups"};
    "recurrent": {"operator", "units", "rows", "steps"};
    "network": name of torchvision's, "batch"; "encoder": {"layers", "size", "heads", "batch", "tokens"}."""

    def __init__(self, torch):
        self.torch = torch

    @staticmethod
    def open():
        """Or why there is none, in words."""
        try:
            import torch  # pylint: disable=import-outside-toplevel
        except ImportError:
            return "torch is not installed"
        return Torch(torch) if torch.cuda.is_available() else "torch sees no GPU"

    def forget(self):
        self.torch.cuda.empty_cache()

    def graphs_of(self, work, stream):
        """A function that makes a function that replays so many works on `stream`, or why there is none."""
        torch = self.torch
        allow = work["type"] == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = allow
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        with torch.inference_mode():
            try:
                run = self.function(work)
            except (ImportError, RuntimeError, NotImplementedError) as error:
                return f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return self.graphs(run, stream)

    def graphs(self, run, stream):
        torch = self.torch
        side = torch.cuda.ExternalStream(stream)

        def graph_of(count):
            with torch.inference_mode(), torch.cuda.stream(side):
                for _ in range(3):
                    run()
                side.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=side):
                    for _ in range(count):
                        run()

            def replay():
                with torch.cuda.stream(side):
                    graph.replay()
            return replay
        return graph_of

    def function(self, work):
        torch = self.torch
        kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(work["type"], torch.float32)

        def values(*shape):
            return torch.randn(*shape, device="cuda").to(kind)
        if "matmul" in work:
            m, k, n = work["matmul"]
            if work["type"] == "int8":
                a, b = (torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
                        for shape in ((m, k), (n, k)))
                return lambda: torch._int_mm(a, b.t())  # pylint: disable=protected-access
            a, b = values(m, k), values(k, n)
            return lambda: a @ b
        if "conv" in work:
            return self.convolution(work["conv"], work["type"], kind)
        if "recurrent" in work:
            r = work["recurrent"]
            layer = getattr(torch.nn, r["operator"])(r["units"], r["units"]).to("cuda", kind).eval()
            layer.flatten_parameters()
            x = values(r["steps"], r["rows"], r["units"])
            return lambda: layer(x)
        if "encoder" in work:
            e = work["encoder"]
            layer = torch.nn.TransformerEncoderLayer(
                e["size"], e["heads"], 4 * e["size"], 0.0, "gelu", batch_first=True)
            encoder = torch.nn.TransformerEncoder(layer, e["layers"], enable_nested_tensor=False)
            encoder, x = encoder.to("cuda", kind).eval(), values(e["batch"], e["tokens"], e["size"])
            return lambda: encoder(x)
        return self.network(work, kind)

    def convolution(self, c, name, kind):
        torch = self.torch
        layer = torch.nn.Conv2d(c["inputs"], c["outputs"], c["kernel"], c["stride"], c["kernel"] // 2,
                                groups=c["groups"], bias=False)
        image = torch.randn(c["batch"], c["inputs"], c["size"], c["size"], device="cuda").to(kind)
        return self.as_stored(layer, image, name, kind)

    def as_stored(self, module, image, name, kind):
        """FP32 as ONNX has it, else channels innermost, as Tensor Cores want them."""
        order = (self.torch.contiguous_format if name == "fp32" else self.torch.channels_last)
        module = module.to("cuda", kind).eval().to(memory_format=order)
        image = image.to(memory_format=order)
        return lambda: module(image)

    def network(self, work, kind):
        import torchvision  # pylint: disable=import-outside-toplevel
        from torch.fx.experimental.optimization import fuse  # pylint: disable=import-outside-toplevel
        network = fuse(getattr(torchvision.models, work["network"])().eval())
        image = self.torch.randn(work["batch"], 3, 224, 224, device="cuda").to(kind)
        return self.as_stored(network, image, work["type"], kind)
