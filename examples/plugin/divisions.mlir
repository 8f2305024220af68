func.func @divisions(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %four = onnx.Constant() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %three = onnx.Constant() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = onnx.Div(%x, %four) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = onnx.Div(%x, %three) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
