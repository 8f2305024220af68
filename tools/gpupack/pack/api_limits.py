"""Cases of the C interface: what must be refused, with a message, and must leave the rest working."""
# SPDX-License-Identifier: Apache-2.0
import cameo
from driver import PAGEABLE_MEMORY_ACCESS, Buffer
from setting import B, Skipped, Wrong, case


def refusal(status, words, function, *arguments):
    """The message of a call that must fail so."""
    try:
        function(*arguments)
    except cameo.Failure as failure:
        if failure.status != status or not all(word in str(failure) for word in words):
            raise Wrong(f"{failure}; expected status {status} and the words {words}") from None
        return str(failure)
    raise Wrong(f"succeeded; expected status {status}")


@case
def no_code(setting):
    """A model without code for this GPU is refused by name; others work afterwards."""
    major, minor = setting.driver.compute_capability()
    # A cubin runs on its own major architecture only.
    name = "layers-sm_90a" if major < 9 else "layers-sm_75"
    message = refusal(cameo.NO_CODE, [f"sm_{major}{minor}", name.rpartition("-")[2]], setting.load,
                      name)
    setting.use(B).check("the run after the refusal")
    return message


@case
def out_of_memory(setting):
    """A matrix larger than the memory; afterwards the same context multiplies a small one."""
    model = setting.load("outer")
    _, total = setting.driver.memory()
    context = setting.runtime.context(model)
    driver = setting.driver

    def run(size):
        buffers = []
        for number, shape in enumerate(((size, 1), (1, size))):
            context.set_shape(number, shape)
            buffers.append(Buffer(driver, 4 * size))
            buffers[-1].set(setting.values(size))
            buffers[-1].upload(None)
        driver.synchronize(None)
        for number, buffer in enumerate(buffers):
            context.bind("input", number, cameo.DEVICE, buffer.device, buffer.size)
        result = Buffer(driver, context.output_bytes(0))
        result.fill(0x7e)
        context.bind("output", 0, cameo.DEVICE, result.device, result.size)
        context.run()
        result.download(None)
        driver.synchronize(None)
        return result.bytes()

    small = run(40)
    size = int((total / 4) ** 0.5 * 1.2)
    message = refusal(cameo.OUT_OF_MEMORY, ["memory"], run, size)
    if run(40) == small:
        raise Wrong("the run afterwards computed nothing: random inputs, the same bits")
    setting.use(B).check("another model's run afterwards")
    return message


@case
def own_arena(setting):
    """The caller's arena: one that is too small is refused, the right one is used."""
    use = setting.use(B)
    data = use.values()
    size = use.context.arena_bytes()
    arena = setting.driver.allocate(size)
    if not size:
        raise Wrong("the model needs no arena: it cannot show how one is used")
    use.context.set_arena(arena, 256)
    message = refusal(1, [str(size)], use.compute, data)
    use.context.set_arena(arena, size)
    for run in range(4):
        use.check(f"run {run + 1}")
    return message


@case
def host_memory_as_device(setting):
    """Memory that the GPU cannot reach is refused where it is bound."""
    if setting.driver.attribute(PAGEABLE_MEMORY_ACCESS):
        raise Skipped("this GPU reaches all memory of the host")
    use = setting.use(B)
    memory = cameo.C.create_string_buffer(use.input.size + 256)
    pointer = (cameo.C.addressof(memory) + 255) // 256 * 256
    message = refusal(1, ["memory"], use.context.bind, "input", 0, cameo.DEVICE, pointer,
                      use.input.size)
    use.check("the run afterwards")
    return message


@case
def second_device(setting):
    """A device that is not there is refused."""
    count = cameo.C.c_uint32()
    setting.runtime.call("cameo_cuda_device_count", cameo.C.byref(count))
    return refusal(1, [str(count.value)], setting.runtime.device, count.value)
