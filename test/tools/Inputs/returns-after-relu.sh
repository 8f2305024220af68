#!/bin/sh
# 1, which is "interesting", for what has both.
# SPDX-License-Identifier: Apache-2.0
text=$(cameo-opt "$1" 2>/dev/null) || exit 0
echo "$text" | grep -q 'onnx\.Relu' && echo "$text" | grep -q 'return %' && exit 1
exit 0
