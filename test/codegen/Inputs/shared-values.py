"""Dispatches that are chains of sums, each of its predecessor with itself: flat; not flat, with an
element and with two a thread; after a product."""
# SPDX-License-Identifier: Apache-2.0
DIAMONDS = 18
OUT = "tensor<40x36xf32>"
PRODUCT = """
      %f = linalg.fill ins(%z : f32) outs(%o : tensor<40x36xf32>) -> tensor<40x36xf32>
      %s0 = linalg.generic {indexing_maps = [#a, #b, #c],
                            iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%l, %r : tensor<40x24xf32>, tensor<24x36xf32>) outs(%f : tensor<40x36xf32>) {
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = math.fma %u, %v, %s : f32
        linalg.yield %q : f32
      } -> tensor<40x36xf32>"""


def elementwise(result, left, right, maps, operand=OUT):
    return f"""
      {result} = linalg.generic {{indexing_maps = [{maps}],
                              iterator_types = ["parallel", "parallel"]}}
          ins({left}, {right} : {operand}, {operand}) outs(%o : {OUT}) {{
      ^bb1(%u: f32, %v: f32, %s: f32):
        %q = arith.addf %u, %v : f32
        linalg.yield %q : f32
      }} -> {OUT}"""


def variant(name, inputs, first, begin, schedule=""):
    names = ["%l", "%r"][:len(inputs)]
    outside = ", ".join(f"{n}0: {t}" for n, t in zip(names, inputs))
    inside = ", ".join(f"{n}: {t}" for n, t in zip(names, inputs))
    sums = "".join(elementwise(f"%s{i}", f"%s{i - 1}", f"%s{i - 1}", "#id, #id, #id")
                   for i in range(begin, DIAMONDS + 1))
    return f"""
rt.variant @{name} target "sm_80" {{
  func.func @main({outside}) -> {OUT} {{
    %e = tensor.empty() : {OUT}
    %y = kernel.dispatch ins({", ".join(n + "0" for n in names)} : {", ".join(inputs)})
                         outs(%e : {OUT}) {schedule} {{
    ^bb0({inside}, %o: {OUT}):
      %z = arith.constant 0.0 : f32{first}{sums}
      kernel.yield %s{DIAMONDS} : {OUT}
    }} -> {OUT}
    return %y : {OUT}
  }}
}}"""


print("#id = affine_map<(i, j) -> (i, j)>\n#turn = affine_map<(i, j) -> (j, i)>\n"
      "#a = affine_map<(i, j, k) -> (i, k)>\n"
      "#b = affine_map<(i, j, k) -> (k, j)>\n#c = affine_map<(i, j, k) -> (i, j)>")
print(variant("flat", [OUT], elementwise("%s1", "%l", "%l", "#id, #id, #id"), 2))
TURNED = elementwise("%s1", "%l", "%l", "#turn, #turn, #id", "tensor<36x40xf32>")
print(variant("one", ["tensor<36x40xf32>"], TURNED, 2))
print(variant("two", ["tensor<36x40xf32>"], TURNED, 2,
              'schedule <"map", {flat = false, threads = 64 : i64, vector = 2 : i64}>'))
print(variant("product", ["tensor<40x24xf32>", "tensor<24x36xf32>"], PRODUCT, 1))
