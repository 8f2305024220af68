"""Cases of the C interface: repeated runs, changing shapes and memory, threads."""
# SPDX-License-Identifier: Apache-2.0
import ctypes as C
import threading

import amounts
from cameo import HOST, NO_GRAPH
from driver import Buffer
from setting import A, B, RUNS, Use, Wrong, case, same


@case
def replay(setting):
    """From the second or third run on launches are replayed; each run has other contents."""
    use = setting.use(B)
    for run in range(RUNS):
        use.check(f"run {run + 1}")


@case
def replay_same(setting):
    """Many replays of one input give the same bits."""
    use = setting.use(B)
    data = use.values()
    first = use.compute(data)
    for run in range(amounts.MANY_RUNS):
        same(f"run {run + 2}", use.compute(data), first)
    return f"{amounts.MANY_RUNS + 1} runs equal bit by bit"


@case
def alternating_shapes(setting):
    """One context, two shapes in turn."""
    first = setting.use(A)
    second = Use(setting, B, first.context)
    for turn in range(RUNS):
        for use in (first, second):
            use.bind()
            use.check(f"turn {turn + 1}, shape {use.shape}")


@case
def many_shapes(setting):
    """More shapes than a context keeps the work of, back and forth."""
    uses = [setting.use(A)]
    uses += [Use(setting, (1 + i % 3, 1 + 7 * i, 32), uses[0].context) for i in range(1, 20)]
    for use in [*uses, *reversed(uses)]:
        use.bind()
        use.check(f"shape {use.shape}")


@case
def alternating_memory(setting):
    """One shape, three sets of buffers in turn."""
    uses = [setting.use(B)]
    uses += [Use(setting, B, uses[0].context) for _ in range(2)]
    for turn in range(RUNS):
        use = uses[turn % 3]
        use.bind()
        use.check(f"turn {turn + 1}")


@case
def alternating_host_memory(setting):
    """Inputs and outputs on the host, in turn page-locked and pageable."""
    use = setting.use(B)
    context = use.context
    sizes = [use.input.size, *(buffer.size for buffer in use.outputs)]
    pageable = [C.create_string_buffer(size) for size in sizes]
    sets = [[Buffer(setting.driver, size).host for size in sizes],
            [C.addressof(buffer) for buffer in pageable]]
    for turn in range(RUNS):
        data, pointers = use.values(), sets[turn % 2]
        C.memmove(pointers[0], data, sizes[0])
        context.bind("input", 0, HOST, pointers[0], sizes[0])
        for number, (pointer, size) in enumerate(zip(pointers[1:], sizes[1:])):
            context.bind("output", number, HOST, pointer, size)
        context.run()
        same(f"turn {turn + 1}", [C.string_at(*pair) for pair in zip(pointers[1:], sizes[1:])],
             setting.expected(B, data))


@case
def state(setting):
    """The output y becomes the input x after each run, in the caller's memory."""
    use = setting.use(B)
    use.context.set_state(0, 0)
    data = use.values()
    use.input.set(data)
    use.input.upload(use.helper)
    setting.driver.synchronize(use.helper)
    check_state(setting, use, data)


@case
def own_state(setting):
    """The same in memory of the context's own, after a first value on the host."""
    use = setting.use(B)
    data = use.values()
    first = C.create_string_buffer(data, len(data))
    use.context.bind("input", 0, HOST, C.addressof(first), len(data))
    use.context.set_state(0, 0)
    check_state(setting, use, data)


def check_state(setting, use, data):
    for run in range(RUNS):
        use.context.run()
        for buffer in use.outputs:
            buffer.download(use.helper)
        setting.driver.synchronize(use.helper)
        expected = setting.expected(B, data)
        same(f"run {run + 1}", [buffer.bytes() for buffer in use.outputs], expected)
        data = expected[0]


@case
def enqueue_many(setting):
    """Several runs on their way at once, one after the other on the stream."""
    uses = [setting.use(B) for _ in range(4)]
    for turn in range(RUNS):
        data = [use.values() for use in uses]
        for use, values in zip(uses, data):
            use.input.set(values)
            use.input.upload(use.helper)
            setting.driver.synchronize(use.helper)
        for use in uses:
            for _ in range(3):
                use.context.enqueue()
        for number, (use, values) in enumerate(zip(uses, data)):
            use.context.synchronize()
            for buffer in use.outputs:
                buffer.download(use.helper)
            setting.driver.synchronize(use.helper)
            same(f"turn {turn + 1}, context {number}", [b.bytes() for b in use.outputs],
                 setting.expected(B, values))


def in_threads(setting, works):
    """Runs functions at once; the first failure is raised here."""
    failures = []

    def guarded(work):
        try:
            setting.driver.make_current()
            work()
        except Exception as error:  # pylint: disable=broad-except
            failures.append(error)
    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@case
def threads(setting):
    """A context a thread, of one model."""
    uses = [setting.use((1 + i, 20 + i, 32)) for i in range(4)]
    data = [use.values() for use in uses]
    expected = [setting.expected(use.shape, values) for use, values in zip(uses, data)]

    def work(number):
        for run in range(amounts.THREAD_RUNS):
            same(f"thread {number}, run {run + 1}", uses[number].compute(data[number]),
                 expected[number])
    in_threads(setting, [lambda i=i: work(i) for i in range(len(uses))])
    return f"4 threads, {amounts.THREAD_RUNS} runs each, equal bit by bit"


@case
def two_models(setting):
    """Two models at once, a thread each."""
    other = setting.load("fashion")
    shape = (3, 1, 28, 28)
    first, second = setting.use(B), setting.use(shape, model=other, outputs=1)
    alone = setting.use(shape, model=other, outputs=1, flags=NO_GRAPH)
    data, images = first.values(), second.values()
    wanted, logits = setting.expected(B, data), alone.compute(images)
    if not any(logits[0]):
        raise Wrong("the second model computes nothing but zeros")

    def work(use, values, expected):
        for run in range(amounts.THREAD_RUNS):
            same(f"run {run + 1} of {len(use.outputs)} outputs", use.compute(values), expected)
    in_threads(setting, [lambda: work(first, data, wanted), lambda: work(second, images, logits)])


@case
def timed_run(setting):
    """Calls back for every launch, and computes the same."""
    use = setting.use(B)
    data = use.values()
    expected = use.compute(data)
    launches = use.context.run_timed()
    for buffer in use.outputs:
        buffer.download(use.helper)
    setting.driver.synchronize(use.helper)
    same("the timed run", [buffer.bytes() for buffer in use.outputs], expected)
    if len(launches) < 3 or any(time < 0 for _, time in launches):
        raise Wrong(f"launches {launches}")
    return f"{len(launches)} launches, {sum(time for _, time in launches):.4f} ms"
