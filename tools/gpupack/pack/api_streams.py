"""Cases of the C interface: callers' streams. A delay and the input's transfer go onto the stream,
then the run, then the output's transfer: nothing waits in between."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C

import amounts
import driver as cuda
from cameo import NO_GRAPH
from setting import B, Skipped, Wrong, case, same

RUNS = 6


class Delay:
    def __init__(self, driver):
        self.driver = driver
        self.memory = [driver.allocate(amounts.DELAY_BYTES) for _ in range(2)]

    def enqueue(self, stream):
        for _ in range(amounts.DELAY_COPIES):
            self.driver.call("cuMemcpyDtoDAsync_v2", C.c_uint64(self.memory[0]),
                             C.c_uint64(self.memory[1]), C.c_size_t(amounts.DELAY_BYTES),
                             C.c_void_p(stream))


def check_order(setting, use, before, after):
    """`before` is the stream of what writes the input, `after` of what reads the outputs."""
    driver, delay = setting.driver, Delay(setting.driver)
    for run in range(RUNS):
        data = use.values()
        for buffer in (use.input, *use.outputs):
            buffer.fill(0x7e)
        use.input.set(data)
        delay.enqueue(before)
        use.input.upload(before)
        use.context.enqueue()
        if after is None:
            use.context.synchronize()
        for buffer in use.outputs:
            buffer.download(use.helper if after is None else after)
        driver.synchronize(use.helper if after is None else after)
        same(f"run {run + 1}", [buffer.bytes() for buffer in use.outputs],
             setting.expected(B, data))


def on(setting, stream):
    check_order(setting, setting.use(B, stream=stream), stream, stream)


@case
def stream_legacy(setting):
    on(setting, cuda.LEGACY)


@case
def stream_per_thread(setting):
    on(setting, cuda.PER_THREAD)


@case
def stream_blocking(setting):
    on(setting, setting.driver.stream(cuda.BLOCKING))


@case
def stream_non_blocking(setting):
    on(setting, setting.driver.stream(cuda.NON_BLOCKING))


@case
def stream_own_after_legacy(setting):
    """A context's own stream waits for what the default stream was given before."""
    check_order(setting, setting.use(B), cuda.LEGACY, None)


@case
def stream_changes(setting):
    """One context, another stream at each run."""
    use = setting.use(B)
    for _ in range(2):
        for stream in (cuda.LEGACY, setting.driver.stream(cuda.NON_BLOCKING), cuda.PER_THREAD,
                       setting.driver.stream(cuda.BLOCKING)):
            use.context.set_stream(stream)
            check_order(setting, use, stream, stream)


@case
def stream_destroyed(setting):
    """The caller's stream may go before the context does, once its work is done."""
    driver = setting.driver
    for _ in range(3):
        stream = driver.stream(cuda.NON_BLOCKING)
        use = setting.use(B, stream=stream)
        check_order(setting, use, stream, stream)
        driver.call("cuStreamDestroy_v2", C.c_void_p(stream))
        use.context.destroy()


@case
def stream_captured(setting):
    """The caller captures the stream that a context works on, with graphs of its own or without."""
    for flags in (0, NO_GRAPH):
        check_captured(setting, flags)


def check_captured(setting, flags):
    driver = setting.driver
    stream = driver.stream(cuda.NON_BLOCKING)
    use = setting.use(B, stream=stream, flags=flags)
    use.compute(use.values())
    graph = driver.capture(stream, use.context.enqueue)
    for run in range(RUNS):
        data = use.values()
        use.input.set(data)
        use.input.upload(stream)
        driver.launch_graph(graph, stream)
        for buffer in use.outputs:
            buffer.download(stream)
        driver.synchronize(stream)
        same(f"run {run + 1}", [b.bytes() for b in use.outputs], setting.expected(B, data))


@case
def stream_torch(setting):
    """torch's current stream, its default one (whose handle is 0) included, and its tensors."""
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Skipped("torch is not installed") from None
    if not torch.cuda.is_available():
        raise Skipped("torch sees no GPU")
    for label, stream in (("default", torch.cuda.default_stream()), ("side", torch.cuda.Stream())):
        use = setting.use(B, stream=stream.cuda_stream or None)
        x = torch.empty(B, device="cuda")
        y = [torch.empty(buffer.size // 4, device="cuda") for buffer in use.outputs]
        use.context.bind("input", 0, 1, x.data_ptr(), use.input.size)
        for number, tensor in enumerate(y):
            use.context.bind("output", number, 1, tensor.data_ptr(), tensor.numel() * 4)
        with torch.cuda.stream(stream):
            slow = torch.randn(8192, 8192, device="cuda")
            for run in range(RUNS):
                values = torch.randn(B)
                slow @= slow * 1e-4  # for the input below to be late
                x.copy_(values.cuda(non_blocking=True) + 0 * slow[0, 0].nan_to_num(0, 0, 0))
                use.context.enqueue()
                outputs = [bytes((t + 0).cpu().numpy().tobytes()) for t in y]
                same(f"{label} stream, run {run + 1}", outputs,
                     setting.expected(B, values.numpy().tobytes()))
    if not outputs:
        raise Wrong("nothing was computed")
    return f"torch {torch.__version__}: equal bit by bit"
