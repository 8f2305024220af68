// What stands behind the handles of cameo.h, and how a Status becomes a cameo_status.
// SPDX-License-Identifier: Apache-2.0
#ifndef CAMEO_RUNTIME_CORE_API_H
#define CAMEO_RUNTIME_CORE_API_H

#include "runtime/cameo.h"
#include "runtime/core/context.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

struct cameo_device {
  std::shared_ptr<cameo::runtime::Device> device;
  // Memory that cameo_device_allocate has given and nobody has released.
  std::mutex mutex;
  std::unordered_map<void *, cameo_memory> allocated;
  bool checked = false; // the simulator's checks are on
};

struct cameo_model {
  std::shared_ptr<cameo::runtime::Model> model;
  std::string manifest; // NUL-terminated
};

struct cameo_context {
  std::shared_ptr<cameo::runtime::Model> model;
  std::unique_ptr<cameo::runtime::Context> context;
  std::string error;
  std::atomic<bool> isUsed{false}; // by a call that has not returned
};

namespace cameo::runtime::api {

// Keeps the message for cameo_last_error().
cameo_status report(const Status &status);
// The same, and then tells the log of the device.
cameo_status report(const cameo_device *device, const Status &status);
cameo_status report(const cameo_model *model, const Status &status);
cameo_status report(cameo_context *context, const Status &status);

// The caller's structure as this version knows it: what the caller's lacks is zero. Fails where the
// caller's is of a later version and uses what it added.
template <typename T> Status readStruct(const T *given, const char *name, T &known) {
  constexpr size_t prefix = sizeof(size_t);
  if (given->struct_size < prefix)
    return failure(Code::InvalidArgument, "%s: struct_size is %zu", name, given->struct_size);
  known = {};
  std::memcpy(static_cast<void *>(&known), given,
              given->struct_size < sizeof(T) ? given->struct_size : sizeof(T));
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(T); i < given->struct_size; ++i)
    if (bytes[i])
      return failure(
          Code::Unsupported,
          "%s: uses a field of a later version at byte %zu; this runtime knows %zu bytes", name, i,
          sizeof(T));
  return {};
}

// Fills as much of the caller's structure as it has.
template <typename T> Status writeStruct(const T &known, const char *name, T *given) {
  size_t size = given->struct_size;
  if (size < sizeof(size_t))
    return failure(Code::InvalidArgument, "%s: struct_size is %zu", name, size);
  std::memcpy(static_cast<void *>(given), &known, size < sizeof(T) ? size : sizeof(T));
  given->struct_size = size;
  return {};
}

#define CAMEO_REQUIRE(POINTER)                                                                     \
  do {                                                                                             \
    if (!(POINTER))                                                                                \
      return ::cameo::runtime::api::report(::cameo::runtime::failure(                              \
          ::cameo::runtime::Code::InvalidArgument, "%s: " #POINTER " is null", __func__));         \
  } while (false)

/// An error where the int that a caller has passed is no role.
inline Status checkRole(cameo_tensor_role role) {
  if (role == CAMEO_INPUT || role == CAMEO_OUTPUT || role == CAMEO_TAP)
    return {};
  return failure(Code::InvalidArgument,
                 "role %d: there are inputs (%d), outputs (%d) and taps (%d)", int(role),
                 int(CAMEO_INPUT), int(CAMEO_OUTPUT), int(CAMEO_TAP));
}

// A call's use of a context. Where another one is at work, of another thread or one whose callback this call
// is made from, nothing of the context is touched, not even its error.
class Use {
public:
  explicit Use(cameo_context *context)
      : context(context->isUsed.exchange(true, std::memory_order_acquire) ? nullptr : context) {}
  ~Use() {
    if (context)
      context->isUsed.store(false, std::memory_order_release);
  }
  Use(const Use &) = delete;
  void operator=(const Use &) = delete;
  explicit operator bool() const { return context; }

private:
  cameo_context *context;
};

#define CAMEO_USE(CONTEXT)                                                                         \
  CAMEO_REQUIRE(CONTEXT);                                                                          \
  ::cameo::runtime::api::Use use_(CONTEXT);                                                        \
  if (!use_)                                                                                       \
  return ::cameo::runtime::api::report(::cameo::runtime::failure(                                  \
      ::cameo::runtime::Code::Busy, "%s: the context is in use by another call", __func__))

} // namespace cameo::runtime::api

#endif
