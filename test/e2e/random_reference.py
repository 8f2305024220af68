"""Random numbers as the compiler's text describes them, written from papers: Philox 4x32-10 (Salmon et al., SC 2011), the
normal distribution's inverse AS 241 (Wichura 1988), and the logarithm of FreeBSD's libm. Every operation rounds once, so
that numbers agree to the bit."""
# SPDX-License-Identifier: Apache-2.0
import ml_dtypes
import numpy

U32, U64 = numpy.uint32, numpy.uint64
UNSEEDED = 0x243F6A8885A308D3
TRIP, LOW = U32(0x80000000), U64(0xFFFFFFFF)
PRECISION = {numpy.dtype(numpy.float16): 11, numpy.dtype(ml_dtypes.bfloat16): 8, numpy.dtype(numpy.float32): 24,
             numpy.dtype(numpy.float64): 53}


def philox(key, counter):
    """Four arrays of 32 bits, of a key of 64 bits and of four counters."""
    key = [int(key) & 0xFFFFFFFF, int(key) >> 32]
    c = [numpy.asarray(each, U32) for each in counter]
    for _ in range(10):
        a, b = U64(0xD2511F53) * c[0].astype(U64), U64(0xCD9E8D57) * c[2].astype(U64)
        c = [(b >> U64(32)).astype(U32) ^ c[1] ^ U32(key[0]), (b & LOW).astype(U32),
             (a >> U64(32)).astype(U32) ^ c[3] ^ U32(key[1]), (a & LOW).astype(U32)]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def state_of(seed=0, run=0):
    """Two blocks: by the context's seed, and by the run alone."""
    counter = [run & 0xFFFFFFFF, run >> 32, 0, 0]
    return [[int(word) for word in philox(key, counter)] for key in (seed, UNSEEDED)]


def trip_of(state, trip):
    return [[int(word) for word in philox(trip, [c[0], c[1], U32(c[2]) ^ TRIP, c[3]])] for c in state]


def bits_of(state, stream, count, seed=None, wide=False):
    """Random bits of so many elements; `seed` as a node has it: a float or an integer."""
    k0, k1, c2, c3 = state[0] if seed is None else state[1]
    if seed is not None:
        key = int(numpy.float32(seed).view(U32)) if isinstance(seed, float) else seed & (2**64 - 1)
        k0, k1 = k0 ^ (key & 0xFFFFFFFF), k1 ^ (key >> 32)
    place = numpy.arange(count, dtype=U64)
    block = place >> U64(1 if wide else 2)
    full = numpy.full(count, 0, U32)
    words = philox(k0 | k1 << 32, [(block & LOW).astype(U32), (block >> U64(32)).astype(U32), full + U32(c2 ^ stream),
                                   full + U32(c3)])
    if not wide:
        return numpy.choose((place & U64(3)).astype(int), words)
    pairs = [words[i].astype(U64) | words[i + 1].astype(U64) << U64(32) for i in (0, 2)]
    return numpy.choose((place & U64(1)).astype(int), pairs)


def unit(bits, precision, compute):
    kept = bits >> bits.dtype.type(bits.dtype.itemsize * 8 - precision)
    return kept.astype(compute) * compute(2.0**-precision)


def neighbour(number, dtype, up):
    """The number of a type that is nearest to a double, and not below (above) it."""
    with numpy.errstate(over="ignore"):
        near = numpy.float64(number).astype(dtype)
    if not up and float(near) > number or up and float(near) < number:
        near = numpy.nextafter(near, dtype.type(numpy.inf if up else -numpy.inf))
    return near


def uniform(state, stream, shape, dtype, low=0.0, high=1.0, seed=None):
    dtype = numpy.dtype(dtype)
    compute = numpy.float64 if dtype == numpy.float64 else numpy.float32
    bits = bits_of(state, stream, int(numpy.prod(shape)), seed, compute == numpy.float64)
    low, high = float(numpy.float32(low)), float(numpy.float32(high))
    result = unit(bits, PRECISION[dtype], compute)
    if (low, high) != (0, 1):
        most = neighbour(high, dtype, False)
        if float(most) == high > low:
            most = numpy.nextafter(most, dtype.type(-numpy.inf))
        result = result * compute(high - low) + compute(low)
        result = numpy.minimum(numpy.maximum(result, compute(neighbour(low, dtype, True))), compute(most))
    return result.astype(dtype).reshape(shape)


def logarithm(x):
    is_double = x.dtype == numpy.float64
    real, word, mantissa = (numpy.float64, U64, 52) if is_double else (numpy.float32, U32, 23)
    one, root = (0x3FF0000000000000, 0x3FE6A09E667F3BCD) if is_double else (0x3F800000, 0x3F3504F3)
    moved = x.view(word) + word(one - root)
    k = ((moved >> word(mantissa)).astype(numpy.int64) - (one >> mantissa)).astype(real)
    f = ((moved & word((1 << mantissa) - 1)) + word(root)).view(real) - real(1)
    s = f / (real(2) + f)
    z = s * s
    series = ([1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
               2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01] if is_double else
              [0xF89E26 * 2.0**-26, 0x91E9EE * 2.0**-25, 0xCCCE13 * 2.0**-25, 0xAAAAAA * 2.0**-24])
    high, low = ((6.93147180369123816490e-01, 1.90821492927058770002e-10) if is_double else
                 (6.9313812256e-01, 9.0580006145e-06))
    total = horner(series, z) * z
    half = real(0.5) * f * f
    small = s * (half + total) + k * real(low)
    return k * real(high) + (f - (half - small))


def horner(coefficients, x):
    result = numpy.full(x.shape, coefficients[0], x.dtype)
    for coefficient in coefficients[1:]:
        result = result * x + x.dtype.type(coefficient)
    return result


def quotient(x, above, below):
    return horner(above[::-1], x) / horner([*below[::-1], 1.0], x)


def normal(state, stream, shape, dtype, mean=0.0, scale=1.0, seed=None):
    dtype = numpy.dtype(dtype)
    real = numpy.float64 if dtype == numpy.float64 else numpy.float32
    wide = real == numpy.float64
    bits = bits_of(state, stream, int(numpy.prod(shape)), seed, wide)
    result = inverse_normal(bits)
    if (mean, scale) != (0, 1):
        result = result * real(numpy.float32(scale)) + real(numpy.float32(mean))
    return result.astype(dtype).reshape(shape)


def inverse_normal(bits):
    width = bits.dtype.itemsize * 8
    real = numpy.float64 if width == 64 else numpy.float32
    mask = bits.dtype.type((1 << width - 1) - 1)
    rest = bits & mask

    def share(numbers):
        return (numbers.astype(real) + real(0.5)) * real(2.0**-width)

    tail, middle = share(rest), share(rest ^ mask)
    near = real(0.180625) - middle * middle
    root = numpy.sqrt(real(0) - logarithm(tail))
    if width == 64:
        central = quotient(near, [3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3],
                           [4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                            2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                            5.2264952788528545610e+3])
        within = quotient(root - real(1.6), [1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                                             3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                                             2.27238449892691845833e-2, 7.74545014278341407640e-4],
                          [2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                           1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                           1.05075007164441684324e-9])
        beyond = quotient(root - real(5), [6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                           2.71155556874348757815e-5, 2.01033439929228813265e-7],
                          [5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                           7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                           2.04426310338993978564e-15])
        far = numpy.where(root > 5, beyond, within)
    else:
        central = quotient(near, [3.3871327179, 50.434271938, 159.29113202, 59.109374720],
                           [17.895169469, 78.757757664, 67.187563600])
        far = quotient(root - real(1.6), [1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103],
                       [0.73700164250, 0.12021132975])
    size = numpy.where(middle <= real(0.425), middle * central, far)
    return numpy.where(bits >> bits.dtype.type(width - 1), -size, size)


def below(state, stream, probabilities, seed=None):
    """Booleans that are true with these probabilities."""
    probabilities = numpy.asarray(probabilities)
    real = numpy.float64 if probabilities.dtype == numpy.float64 else numpy.float32
    bits = bits_of(state, stream, probabilities.size, seed, real == numpy.float64)
    numbers = unit(bits, 53 if real == numpy.float64 else 24, real)
    return numbers.reshape(probabilities.shape) < probabilities.astype(real)


def classes(state, stream, logs, samples, seed=None):
    """Of each row of unnormalised logarithms of probabilities. Sums are in another order than a kernel's."""
    logs = numpy.asarray(logs).astype(numpy.float64)
    weights = numpy.exp(logs - logs.max(1, keepdims=True))
    sums = numpy.where(weights > 0, numpy.cumsum(weights, 1), 0)
    drawn = uniform(state, stream, (len(logs), samples), numpy.float64, seed=seed)
    share = drawn * sums.max(1, keepdims=True)
    return (sums[:, None, :] > share[:, :, None]).argmax(2)
