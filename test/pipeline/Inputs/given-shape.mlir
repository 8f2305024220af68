// A tensor whose sizes are the values of an input.
module {
  func.func @main(%x: tensor<1xf32> {onnx.name = "x"}, %shape: tensor<2xi64> {onnx.name = "shape"})
      -> (tensor<?x?xf32> {onnx.name = "y"}) {
    %0 = onnx.Expand(%x, %shape) : (tensor<1xf32>, tensor<2xi64>) -> tensor<?x?xf32> loc("expand")
    %1 = onnx.Sqrt(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32> loc("root")
    return %1 : tensor<?x?xf32>
  }
}
