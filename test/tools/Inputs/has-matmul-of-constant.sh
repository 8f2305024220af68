#!/bin/sh
# 1, which is "interesting", for what has both.
# SPDX-License-Identifier: Apache-2.0
text=$(cameo-opt "$1" 2>/dev/null) || exit 0
echo "$text" | grep -q 'onnx\.MatMul' && echo "$text" | grep -q 'onnx\.Constant' && exit 1
exit 0
