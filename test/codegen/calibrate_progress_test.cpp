// Progress on a terminal and elsewhere.
//
// SPDX-License-Identifier: Apache-2.0
#include "codegen/calibrate/Progress.h"

#include <gtest/gtest.h>

using namespace cameo;
using namespace std::chrono_literals;

namespace {

TEST(CalibrateProgress, ALineEveryTenSeconds) {
  std::string text;
  llvm::raw_string_ostream output(text);
  Progress::Clock::time_point start;
  {
    Progress progress("calibrating", output, /*isTerminal=*/false, start);
    for (int second = 1; second <= 25; ++second)
      progress.update(uint64_t(second) * 4, 400, start + second * 1s);
  }
  EXPECT_EQ(text, "calibrating: 40 of 400, 4.0 a second, 90 s left\n"
                  "calibrating: 80 of 400, 4.0 a second, 80 s left\n");
}

TEST(CalibrateProgress, ABarThatGoesAway) {
  std::string text;
  llvm::raw_string_ostream output(text);
  Progress::Clock::time_point start;
  {
    Progress progress("calibrating", output, /*isTerminal=*/true, start);
    progress.update(1, 4, start + 1s);
    EXPECT_EQ(text, "\rcalibrating [======                  ] 1 of 4, 1.0 a second, 3 s left");
    progress.update(2, 4, start + 1050ms);
    text.clear();
    progress.update(4, 4, start + 2s);
    EXPECT_EQ(text, "\rcalibrating [========================] 4 of 4, 2.0 a second, 0 s left");
    text.clear();
  }
  EXPECT_EQ(text, "\r" + std::string(69, ' ') + "\r");
}

} // namespace
