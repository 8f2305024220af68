#!/bin/sh
# 1, which is "interesting", while a Relu is called b.
# SPDX-License-Identifier: Apache-2.0
text=$(cameo-opt "$1" 2>/dev/null) || exit 0
name=$(echo "$text" | sed -n 's/.*onnx\.Relu.* loc(\(#loc[0-9]*\)).*/\1/p')
echo "$text" | grep -q "^$name = loc(\"b\")" && exit 1
exit 0
