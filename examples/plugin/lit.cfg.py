# lit's configuration for the plugin's tests. CMake's target `check` is this command:
#
#   lit -v examples/plugin --param cameo=/opt/cameo/bin --param llvm=/usr/lib/llvm-19/bin \
#       --param plugin=build-plugin/ReplaceDivisions.so
#
# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import lit.formats

plugin = Path(lit_config.params["plugin"]).resolve()

config.name = "replace-divisions"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = str(Path(__file__).resolve().parent)
config.test_exec_root = str(plugin.parent / "test")
# Cameo's programs, and LLVM's FileCheck and not.
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["cameo"], lit_config.params["llvm"], os.environ["PATH"]])
config.substitutions.append(("%plugin", str(plugin)))
