#!/usr/bin/env python3
"""One case of the C interface on the GPU, by name: api.py CASE FOLDER; api.py --list names them.

What a context computes is compared, bit by bit, with what one without graphs computes by itself on a
stream of its own. Exit code 0 where all is well, 1 where not, 77 where it cannot be tried here."""
# SPDX-License-Identifier: Apache-2.0
import sys

import api_limits  # noqa: F401  pylint: disable=unused-import
import api_runs  # noqa: F401  pylint: disable=unused-import
import api_streams  # noqa: F401  pylint: disable=unused-import
import cameo
import driver
import setting

SKIPPED = 77


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(setting.CASES))
        return 0
    name, folder = sys.argv[1:]
    try:
        message = setting.CASES[name](setting.Setting(folder))
    except setting.Skipped as reason:
        print(reason)
        return SKIPPED
    except (setting.Wrong, cameo.Failure, driver.DriverError) as error:
        print(f"error: {error}")
        return 1
    print(message or "equal bit by bit")
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
