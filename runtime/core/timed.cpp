// A run whose launches are timed one by one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/core/context.h"

namespace cameo::rt {

Status Context::runTimed(const std::function<void(const LaunchTiming &)> &callback) {
  DeviceScope scope(device());
  CAMEO_RETURN_IF_ERROR(std::move(scope.status));
  swapStates();
  CAMEO_RETURN_IF_ERROR(prepare());
  CAMEO_RETURN_IF_ERROR(resolve());
  struct Events : std::vector<Event> {
    explicit Events(Device &device) : device(device) {}
    ~Events() {
      for (Event event : *this)
        (void)device.destroyEvent(event);
    }
    Device &device;
  } events(device());
  for (size_t i = 0; i < 2 * work().launches.size(); ++i) {
    Event event = nullptr;
    CAMEO_RETURN_IF_ERROR(device().createEvent(event));
    events.push_back(event);
  }
  CAMEO_RETURN_IF_ERROR(copyInputs());
  discardOldContents();
  Status status = active->enqueueSteps(current, [&](size_t launch, bool after) {
    return device().record(events[2 * launch + after], current);
  });
  if (status.ok())
    status = copyOutputs();
  Status waited = device().synchronize(current);
  inFlight = inputsInFlight = false;
  CAMEO_RETURN_IF_ERROR(std::move(status));
  CAMEO_RETURN_IF_ERROR(std::move(waited));
  for (size_t i = 0; i < work().launches.size(); ++i) {
    float start = 0, duration = 0;
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[0], events[2 * i], start));
    CAMEO_RETURN_IF_ERROR(device().elapsed(events[2 * i], events[2 * i + 1], duration));
    const LaunchStep &step = work().launches[i];
    callback({&plan().kernels()[step.kernel], &step, start, duration});
  }
  return {};
}

} // namespace cameo::rt
